// A cartridge image: parsed once, shared read-only by every console that plays it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "program.hpp"

namespace nes {

// What is wrong with a ROM file, in words a user can act on.
struct RomError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Mirroring : uint8_t { horizontal, vertical, single_low, single_high, four_screen };

class Rom {
  public:
    // Parses an iNES image; throws RomError.
    Rom(const uint8_t *data, size_t size);

    int mapper = 0;
    bool battery = false;
    Mirroring mirroring = Mirroring::horizontal;
    std::vector<uint8_t> prg;  // a multiple of 16 KB
    std::vector<uint8_t> chr;  // empty: the cartridge has 8 KB of CHR RAM
    uint64_t hash = 0;         // identity of the cartridge: mapper, mirroring, PRG and CHR

    bool has_chr_ram() const { return chr.empty(); }

    // The PRG decoded for the interpreter; `optimised` adds idle-loop and fixed-address shortcuts.
    const Program &program(bool optimised) const { return optimised ? optimised_ : plain_; }

  private:
    Program plain_;
    Program optimised_;
};

}  // namespace nes
