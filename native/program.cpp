#include "program.hpp"

namespace nes {
namespace {

constexpr size_t kBank = 0x2000;

bool is_branch(uint8_t opcode) {
    return (opcode & 0x1F) == 0x10;
}

// Which shortcut serves an absolute operand that provably stays in RAM or in PRG ROM; `edge` if there is none.
Fn shortcut(Fn fn, uint16_t operand) {
    const bool in_ram = operand < 0x2000;
    const bool page_in_ram = operand + 0xFF < 0x2000;
    const bool page_in_rom = operand >= 0x8000 && operand + 0xFF <= 0xFFFF;
    switch (fn) {
        // clang-format off
#define ABSOLUTE(N) case Fn::N##_abs: return in_ram ? Fn::N##_ram : Fn::edge;
#define INDEXED_X(N) case Fn::N##_abx: return page_in_ram ? Fn::N##_rmx : Fn::edge;
#define READ(N, index) \
        case Fn::N##_ab##index: return page_in_ram ? Fn::N##_rm##index : page_in_rom ? Fn::N##_ro##index : Fn::edge;
#define ALU(N) ABSOLUTE(N) READ(N, x) READ(N, y)
        ALU(lda) ALU(ora) ALU(and) ALU(eor) ALU(adc) ALU(sbc) ALU(cmp)
        READ(ldx, y) READ(ldy, x)
        ABSOLUTE(ldx) ABSOLUTE(ldy) ABSOLUTE(cpx) ABSOLUTE(cpy) ABSOLUTE(bit)
        ABSOLUTE(sta) ABSOLUTE(stx) ABSOLUTE(sty)
        ABSOLUTE(asl) ABSOLUTE(lsr) ABSOLUTE(rol) ABSOLUTE(ror) ABSOLUTE(inc) ABSOLUTE(dec)
        INDEXED_X(sta) INDEXED_X(asl) INDEXED_X(lsr) INDEXED_X(rol) INDEXED_X(ror) INDEXED_X(inc) INDEXED_X(dec)
#undef ALU
#undef READ
#undef INDEXED_X
#undef ABSOLUTE
        // clang-format on
        case Fn::sta_aby:
        return page_in_ram ? Fn::sta_rmy : Fn::edge;
        default : return Fn::edge;
    }
}

// One handler for both instructions, if there is one; else the first's.
uint16_t fused(Fn first, Fn second) {
    const auto pair = [](Fn a, Fn b) { return static_cast<uint32_t>(a) << 16 | static_cast<uint32_t>(b); };
    switch (pair(first, second)) {
#define X(a, b) \
    case static_cast<uint32_t>(Fn::a) << 16 | static_cast<uint32_t>(Fn::b): return static_cast<uint16_t>(Fn::a##_##b);
        NES_FUSED(X)
#undef X
        default: return static_cast<uint16_t>(first);
    }
}

}  // namespace

Program::Program(const std::vector<uint8_t> &prg, bool optimised) : ops_(prg.size()) {
    for (size_t bank = 0; bank * kBank < prg.size(); ++bank) {
        decode_bank(prg.data() + bank * kBank, bank, optimised);
        if (optimised) fuse_bank(prg.data() + bank * kBank, bank);
    }
}

Op Program::decode_plain(uint8_t opcode, uint8_t low, uint8_t high) {
    return {static_cast<uint16_t>(kOpcodes[opcode].fn), static_cast<uint16_t>(low | high << 8)};
}

void Program::decode_bank(const uint8_t *bytes, size_t bank, bool optimised) {
    for (size_t at = 0; at < kBank; ++at) {
        Op &op = ops_[bank * kBank + at];
        const uint8_t opcode = bytes[at];
        const size_t length = kOpcodes[opcode].length;
        if (at + length >= kBank) {
            op = {static_cast<uint16_t>(Fn::edge), 0};
            continue;
        }
        op = decode_plain(opcode, length > 1 ? bytes[at + 1] : 0, length > 2 ? bytes[at + 2] : 0);
        if (is_branch(opcode)) {
            const long target = static_cast<long>(at) + 2 + static_cast<int8_t>(bytes[at + 1]);
            if (target < 0 || target >= static_cast<long>(kBank)) op.fn = static_cast<uint16_t>(Fn::edge);
            if ((target ^ static_cast<long>(at + 2)) & 0xFF00) op.arg |= 0x100;  // a page crossed costs a cycle
        }
        if (!optimised) continue;
        IdlePoll poll;
        if (opcode == 0x4C && (op.arg & 0x1FFF) == at && op.arg >= 0x8000) {
            // The bank may be mapped elsewhere: the handler compares the operand with the program counter.
            op.fn = static_cast<uint16_t>(Fn::idle_jump);
        } else if (polls_.size() < 0xFFFF && match_poll(bytes, at, poll)) {
            op = {static_cast<uint16_t>(Fn::idle_poll), static_cast<uint16_t>(polls_.size())};
            polls_.push_back(poll);
        } else if (length == 3) {
            const Fn fast = shortcut(static_cast<Fn>(op.fn), op.arg);
            if (fast != Fn::edge) op.fn = static_cast<uint16_t>(fast);
        }
    }
}

// Lets the first instruction of a frequent pair run the second as well. The second keeps its own entry: code may jump
// to it, and an interrupt may come between the two.
void Program::fuse_bank(const uint8_t *bytes, size_t bank) {
    Op *ops = ops_.data() + bank * kBank;
    for (size_t at = 0; at < kBank; ++at) {
        const size_t next = at + kOpcodes[bytes[at]].length;
        if (next < kBank) ops[at].fn = fused(static_cast<Fn>(ops[at].fn), static_cast<Fn>(ops[next].fn));
    }
}

bool Program::match_poll(const uint8_t *bytes, size_t at, IdlePoll &poll) const {
    const uint8_t load = bytes[at];
    size_t next;
    if (load == 0xA5 || load == 0xA6 || load == 0xA4 || load == 0x24) {  // zero page
        poll.load_op = load + 0x08;
        poll.address = bytes[at + 1];
        poll.load_cycles = 3;
        next = at + 2;
    } else if (load == 0xAD || load == 0xAE || load == 0xAC || load == 0x2C) {
        poll.load_op = load;
        poll.address = static_cast<uint16_t>(bytes[at + 1] | bytes[at + 2] << 8);
        if (poll.address < 0x2000) {
            poll.address &= 0x7FF;
        } else if (poll.address != 0x2002) {
            return false;
        }
        poll.load_cycles = 4;
        next = at + 3;
    } else {
        return false;
    }
    if (next + 4 >= kBank) return false;
    poll.load = decode_plain(load, bytes[at + 1], next - at == 3 ? bytes[at + 2] : 0);
    poll.period = poll.load_cycles;
    poll.test_op = 0;
    poll.test_arg = 0;
    const uint8_t test = bytes[next];
    if (test == 0x29 || test == 0xC9 || test == 0xC5 || test == 0xE0 || test == 0xC0) {
        poll.test_op = test;
        poll.test_arg = bytes[next + 1];
        poll.period += test == 0xC5 ? 3 : 2;
        next += 2;
    }
    if (!is_branch(bytes[next])) return false;
    if (next + 2 + static_cast<int8_t>(bytes[next + 1]) != at) return false;
    poll.branch_op = bytes[next];
    const bool crosses = ((next + 2) ^ at) & 0xFF00;
    poll.period += 3 + crosses;
    return true;
}

}  // namespace nes
