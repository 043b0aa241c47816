// PRG ROM decoded once per cartridge: one entry per byte, so the interpreter fetches an instruction with one load.
//
// Every 8 KB bank is decoded on its own. An instruction that touches the bank's end, or branches out of it, decodes to
// `Fn::edge`: the interpreter then fetches it byte by byte through the bus. Code in RAM or I/O space takes that path too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opcodes.hpp"

namespace nes {

struct Op {
    uint16_t fn;   // an Fn: which handler runs
    uint16_t arg;  // operand bytes (low first); bit 8 of a branch: it crosses a page; Fn::idle_poll: which poll
};

// A loop that only waits: a load (of RAM or of $2002), at most one test, and a branch back to the load.
// Running it again changes nothing until an interrupt comes or, for $2002, until the status changes.
struct IdlePoll {
    Op load;           // the original first instruction
    uint8_t load_op;   // LDA, LDX, LDY or BIT as its absolute opcode: AD, AE, AC, 2C
    uint16_t address;  // RAM address (0-$7FF) or $2002
    uint8_t test_op;   // 0: none; 29 AND #, C9 CMP #, C5 CMP zp, E0 CPX #, C0 CPY #
    uint8_t test_arg;
    uint8_t branch_op;
    uint8_t load_cycles;  // cycles of the load
    uint8_t period;       // cycles of one turn when the branch is taken
};

class Program {
  public:
    Program() = default;
    Program(const std::vector<uint8_t> &prg, bool optimised);

    const Op *bank8(size_t index) const { return ops_.data() + index * 0x2000; }
    const IdlePoll &poll(uint16_t index) const { return polls_[index]; }

    // One instruction as its plain handler, for code that is not in ROM.
    static Op decode_plain(uint8_t opcode, uint8_t low, uint8_t high);

  private:
    void decode_bank(const uint8_t *bytes, size_t bank, bool optimised);
    void fuse_bank(const uint8_t *bytes, size_t bank);
    bool match_poll(const uint8_t *bytes, size_t at, IdlePoll &poll) const;

    std::vector<Op> ops_;
    std::vector<IdlePoll> polls_;
};

}  // namespace nes
