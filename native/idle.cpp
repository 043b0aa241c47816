// Loops that only wait. The decoder has found them (program.cpp); here their turns are counted and skipped.
//
// Skipping is exact: a turn changes nothing, so after k of them only the cycle count differs. No turn is skipped across
// a moment at which an interrupt, the PPU status or the end of the frame could be noticed.
#include "console.hpp"

namespace nes {

bool Console::poll_would_loop(const IdlePoll &poll, uint8_t value, uint8_t a, uint8_t x, uint8_t y, unsigned c,
                              unsigned v) const {
    unsigned n = value >> 7;
    bool z = value == 0;
    switch (poll.load_op) {
        case 0xAD: a = value; break;
        case 0xAE: x = value; break;
        case 0xAC: y = value; break;
        default:  // BIT
            z = (a & value) == 0;
            v = value >> 6 & 1;
            break;
    }
    auto compare = [&](uint8_t reg, uint8_t with) {
        c = reg >= with;
        z = reg == with;
        n = static_cast<uint8_t>(reg - with) >> 7;
    };
    switch (poll.test_op) {
        case 0x29:
            a &= poll.test_arg;
            z = a == 0;
            n = a >> 7;
            break;
        case 0xC9: compare(a, poll.test_arg); break;
        case 0xC5: compare(a, s.ram[poll.test_arg]); break;
        case 0xE0: compare(x, poll.test_arg); break;
        case 0xC0: compare(y, poll.test_arg); break;
        default: break;
    }
    const bool flag = poll.branch_op < 0x40 ? n : poll.branch_op < 0x80 ? v : poll.branch_op < 0xC0 ? c : z;
    return flag == ((poll.branch_op >> 5 & 1) != 0);
}

// How many whole turns of a waiting loop can be skipped without anything noticing.
uint64_t Console::idle_turns(const IdlePoll &poll, uint64_t cycle, uint8_t a, uint8_t x, uint8_t y, unsigned c,
                             unsigned v) {
    uint64_t until = attention_;
    uint8_t value;
    if (poll.address == 0x2002) {
        ppu_sync(3 * cycle);
        if (s.vblank) return 0;  // the first read clears it
        value = static_cast<uint8_t>(s.overflow << 5 | s.sprite0_hit << 6 | (decayed_latch() & 0x1F));
        // Stay clear of the change itself, where one tick decides what a read sees.
        const uint64_t change = next_status_change() / 3;
        if (change < cycle + 12) return 0;
        if (change - 12 < until) until = change - 12;
    } else {
        value = s.ram[poll.address];
    }
    if (until <= cycle + poll.period || !poll_would_loop(poll, value, a, x, y, c, v)) return 0;
    // One turn is always played after those skipped: it sets the registers and flags as the loop leaves them.
    return (until - 1 - cycle) / poll.period - 1;
}

}  // namespace nes
