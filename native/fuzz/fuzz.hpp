// What the fuzz drivers share: a reproducible random source, a time budget, small cartridges of random content.
//
// A driver takes its budget in seconds and optionally a first seed. Each case has its own seed, printed when
// something is wrong, so `driver 1 SEED` repeats it. The sanitizers do the finding; the drivers check invariants on
// top.
#pragma once

#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "../console.hpp"

namespace fuzz {

// SplitMix64
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    uint64_t below(uint64_t n) { return next() % n; }
    uint8_t byte() { return static_cast<uint8_t>(next() >> 56); }
    bool one_in(uint64_t n) { return below(n) == 0; }

  private:
    uint64_t state_;
};

inline void fail(uint64_t seed, const char *what) {
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), what);
    std::exit(1);
}

// A case takes milliseconds; one that takes this long never ends.
constexpr unsigned kHangSeconds = 15;
inline volatile std::sig_atomic_t current_seed = 0;

inline void hung(int) {
    fail(static_cast<uint64_t>(current_seed), "this case does not end");
}

inline void sanitizer_found_something() {
    std::fprintf(stderr, "seed %lld\n", static_cast<long long>(current_seed));
}

// Runs `one_case` with seeds from the given first one on until the budget is used up.
template <typename Case>
int run(int argc, char **argv, const char *name, Case one_case) {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
    const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    const auto start = std::chrono::steady_clock::now();
    uint64_t seed = first;
    std::signal(SIGALRM, hung);
    __sanitizer_set_death_callback(sanitizer_found_something);
    do {
        current_seed = static_cast<std::sig_atomic_t>(seed);
        alarm(kHangSeconds);
        one_case(seed++);
    } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds);
    std::printf("%s: %llu cases\n", name, static_cast<unsigned long long>(seed - first));
    return 0;
}

// An iNES image with random code for one of our mappers. Its vectors point into PRG; the first bytes of the code set
// up a plausible console, so that many cases get past the first instructions.
inline std::vector<uint8_t> random_cartridge(Random &random) {
    static const uint8_t mappers[] = {0, 0, 1, 2, 3, 4, 4};
    const uint8_t mapper = mappers[random.below(sizeof mappers)];
    const bool big = mapper == 1 || mapper == 2 || mapper == 4;
    const size_t prg = big ? size_t{1} << random.below(4) : 1 + random.below(2);
    const size_t chr = random.one_in(3) ? 0 : (mapper == 0 || mapper == 2) ? 1 : size_t{1} << random.below(3);
    std::vector<uint8_t> image = {'N', 'E', 'S', 0x1A, static_cast<uint8_t>(prg), static_cast<uint8_t>(chr)};
    image.push_back(static_cast<uint8_t>(mapper << 4 | (random.byte() & 0x0B)));
    image.resize(16 + prg * 0x4000 + chr * 0x2000);
    for (size_t i = 16; i < image.size(); ++i) image[i] = random.byte();
    // LDA #mask, STA $2001, LDA #ctrl, STA $2000, CLI
    const uint8_t begin[] = {0xA9, random.byte(), 0x8D, 0x01, 0x20, 0xA9, random.byte(), 0x8D, 0x00, 0x20, 0x58};
    uint8_t *last = image.data() + 16 + (prg - 1) * 0x4000;
    const size_t at = random.below(0x3F00);
    std::memcpy(last + at, begin, sizeof begin);
    const uint16_t reset = static_cast<uint16_t>(0xC000 + at);
    std::memcpy(last + 0x3FFC, &reset, 2);
    return image;
}

// A console with the state it works on.
struct Machine {
    Machine(const nes::Rom &rom, bool optimised)
        : state(std::make_unique<nes::State>()), console(rom, *state, optimised) {}
    std::unique_ptr<nes::State> state;
    nes::Console console;
};

}  // namespace fuzz
