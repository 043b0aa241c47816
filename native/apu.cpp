// The APU as far as a program can see it: length counters, the frame counter and its IRQ, and the DMC's bus fetches
// and IRQ. No sound is made.
//
// The frame counter's clock is n - frame_zero after the tick of cycle n. In 4-step mode it wraps at 29830, clocks the
// length counters at 14913 and 29829 and raises the IRQ flag at 29828, 29829 and the wrap; in 5-step mode it wraps at
// 37282 and clocks at 14913 and 37281.
#include "console.hpp"

namespace nes {
namespace {

constexpr uint8_t kLengths[32] = {10, 254, 20, 2,  40, 4,  80, 6,  160, 8,  60, 10, 14, 12, 26, 14,
                                  12, 16,  24, 18, 48, 20, 96, 22, 192, 24, 72, 26, 16, 28, 32, 30};
constexpr uint16_t kDmcPeriods[16] = {428, 380, 340, 320, 286, 254, 226, 214, 190, 160, 142, 128, 106, 84, 72, 54};

constexpr int64_t kHalf = 14913;
constexpr int64_t kEnd[2] = {29829, 37281};
constexpr int64_t kIrqFrom = 29828;

}  // namespace

void Console::apu_power() {
    s.apu_cycle = -1;
    s.frame_zero = -1;
    s.frame_reset_at = kNever;
    s.dmc_length = 1;
    s.dmc_period = kDmcPeriods[0];
    s.dmc_timer_at = kDmcPeriods[0] - 1;
    s.dmc_bits = 8;
    s.dmc_buffer_empty = 1;
    s.dmc_irq_since = s.frame_irq_since = kNever;
    predict_frame_irq();
}

void Console::apu_reset() {
    apu_sync(s.cycle);
    for (uint8_t &length : s.length) length = 0;
    for (uint8_t &enabled : s.length_enabled) enabled = 0;
    s.dmc_remaining = 0;
    s.dmc_irq_since = s.frame_irq_since = kNever;
    s.dmc_period = kDmcPeriods[0];
    s.dmc_timer_at = s.cycle + kDmcPeriods[0] - 1;
    s.dmc_bits = 8;
    s.dmc_buffer_empty = 1;
    s.parity = s.cycle & 1;
    // The reset line acts like writing 0 to $4015 and the old value to $4017.
    apu_write(0x4015, 0, s.cycle++);
    apu_write(0x4017, static_cast<uint8_t>(s.frame_mode << 7 | s.frame_inhibit << 6), s.cycle++);
}

void Console::clock_lengths() {
    for (int i = 0; i < 4; ++i) {
        if (s.length[i] && !s.length_halt[i]) --s.length[i];
    }
}

// Brings the frame counter up to the tick of cycle n.
void Console::apu_sync(uint64_t n) {
    const int64_t now = static_cast<int64_t>(n);
    while (s.apu_cycle < now) {
        const int64_t reset_at = static_cast<int64_t>(s.frame_reset_at);
        const int64_t until = reset_at <= now ? reset_at - 1 : now;  // ticks before the reset run as ever
        const int64_t end = kEnd[s.frame_mode];
        int64_t clock = s.apu_cycle - s.frame_zero;
        while (s.apu_cycle < until) {
            // The next clock value at which something happens, or the end of the span.
            const int64_t next = clock < kHalf ? kHalf : clock < end ? end : end + 1;
            const int64_t at = s.frame_zero + next;
            if (at > until) {
                s.apu_cycle = until;
                break;
            }
            s.apu_cycle = at;
            if (next == end + 1) {
                s.frame_zero += end + 1;
                clock = 0;
            } else {
                clock_lengths();
                clock = next;
            }
        }
        if (reset_at <= now) {
            s.apu_cycle = reset_at;
            s.frame_zero = reset_at;
            s.frame_reset_at = kNever;
        }
    }
    predict_frame_irq();
}

// frame_irq_since: when the IRQ flag rose, or will rise if nobody interferes.
void Console::predict_frame_irq() {
    if (static_cast<int64_t>(s.frame_irq_since) <= s.apu_cycle) return;  // raised, and not cleared yet
    s.frame_irq_since = kNever;
    if (s.frame_inhibit) return;
    const int64_t reset_at = static_cast<int64_t>(s.frame_reset_at);
    if (!s.frame_mode) {
        const int64_t next = s.apu_cycle + 1;
        int64_t at = s.frame_zero + kIrqFrom;
        if (at < next) at = next <= s.frame_zero + kIrqFrom + 2 ? next : at + kEnd[0] + 1;
        if (at >= reset_at) at = reset_at + kIrqFrom;
        s.frame_irq_since = static_cast<uint64_t>(at);
    }
}

uint8_t Console::apu_read_status(uint64_t n) {
    apu_sync(n);
    uint8_t value = static_cast<uint8_t>((s.dmc_remaining > 0) << 4);
    for (int i = 0; i < 4; ++i) value |= static_cast<uint8_t>((s.length[i] > 0) << i);
    if (s.frame_irq_since <= n) value |= 0x40;
    if (s.dmc_irq_since <= n) value |= 0x80;
    withdraw_irq(n);
    s.frame_irq_since = kNever;
    predict_frame_irq();
    update_attention();
    return value;
}

// Call before clearing an IRQ source in cycle n: an interrupt sampled in the cycle before is still served.
void Console::withdraw_irq(uint64_t n) {
    if (!(s.p & 0x04) && irq_since() < n) s.irq_latch = n - 1;
}

void Console::apu_write(uint16_t address, uint8_t value, uint64_t n) {
    apu_sync(n);
    const int channel = address >> 2 & 3;
    switch (address) {
        case 0x4000:
        case 0x4004:
        case 0x400C: s.length_halt[channel] = value >> 5 & 1; break;
        case 0x4008: s.length_halt[2] = value >> 7; break;
        case 0x4003:
        case 0x4007:
        case 0x400B:
        case 0x400F:
            if (s.length_enabled[channel]) s.length[channel] = kLengths[value >> 3];
            break;
        case 0x4010:
            dmc_advance(n);
            s.dmc_irq_enabled = value >> 7;
            s.dmc_loop = value >> 6 & 1;
            s.dmc_period = kDmcPeriods[value & 0x0F];
            if (!s.dmc_irq_enabled) {
                withdraw_irq(n);
                s.dmc_irq_since = kNever;
            }
            break;
        case 0x4013: s.dmc_length = static_cast<uint16_t>((value << 4) + 1); break;
        case 0x4015:
            for (int i = 0; i < 4; ++i) {
                s.length_enabled[i] = value >> i & 1;
                if (!s.length_enabled[i]) s.length[i] = 0;
            }
            dmc_advance(n);
            withdraw_irq(n);
            s.dmc_irq_since = kNever;
            if (!(value & 0x10)) {
                s.dmc_remaining = 0;
            } else if (s.dmc_remaining == 0) {
                s.dmc_remaining = s.dmc_length;
                if (s.dmc_buffer_empty && s.dmc_remaining) {
                    // The empty buffer is filled at once; the CPU waits.
                    dmc_take_byte(n, 3);
                    s.cycle += 3;
                }
            }
            break;
        case 0x4017:
            s.frame_mode = value >> 7;
            s.frame_inhibit = value >> 6 & 1;
            if (s.frame_inhibit) {
                withdraw_irq(n);
                s.frame_irq_since = kNever;
            }
            s.frame_reset_at = n + ((n + s.parity) & 1 ? 3 : 4);
            if (s.frame_mode) clock_lengths();
            predict_frame_irq();
            break;
        default: break;
    }
}

// Runs the DMC's bit clock through the tick of cycle n. Fetches are dmc_take_byte's business.
void Console::dmc_advance(uint64_t n) {
    if (s.dmc_timer_at > n) return;
    const uint64_t bits = (n - s.dmc_timer_at) / s.dmc_period + 1;
    s.dmc_timer_at += bits * s.dmc_period;
    if (bits < s.dmc_bits) {
        s.dmc_bits = static_cast<uint8_t>(s.dmc_bits - bits);
    } else {
        s.dmc_buffer_empty = 1;
        s.dmc_bits = static_cast<uint8_t>(8 - (bits - s.dmc_bits) % 8);
    }
}

uint64_t Console::dmc_fetch_cycle() const {
    return s.dmc_timer_at + static_cast<uint64_t>(s.dmc_bits - 1) * s.dmc_period;
}

// The DMC fetches a byte in cycle n, and the CPU stands still for `stall` cycles.
void Console::dmc_take_byte(uint64_t n, int stall) {
    dmc_advance(n);
    s.dmc_buffer_empty = 0;
    if (--s.dmc_remaining == 0) {
        if (s.dmc_loop) {
            s.dmc_remaining = s.dmc_length;
        } else if (s.dmc_irq_enabled) {
            s.dmc_irq_since = n + static_cast<uint64_t>(stall);
        }
    }
    dmc_advance(n + static_cast<uint64_t>(stall));  // a byte that runs out while the CPU stalls is not fetched
}

}  // namespace nes
