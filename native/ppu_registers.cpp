// The PPU's eight registers as the CPU sees them, and the data bus between the two, which keeps what was last on it.
#include "console.hpp"
#include "scroll.hpp"

namespace nes {
namespace {

constexpr uint32_t kLatchFrames = 30;                           // how long the PPU's bus keeps a value
constexpr int kGroupHigh = 1, kGroupMiddle = 2, kGroupLow = 4;  // latch bits 7-6, 5, 4-0
constexpr int kDataReadGap = 2;                                 // $2007 reads closer than this (cycles) are one read

}  // namespace

// The PPU does not use v and OAM itself: rendering is off, or it is between the picture and the pre-render line.
bool Console::blanked() const {
    return !s.rendering || (s.dot > kLastVisibleDot && s.dot < kPreRenderDot);
}

void Console::refresh_latch(uint8_t value, int groups) {
    s.latch = value;
    for (int i = 0; i < 3; ++i) {
        if (groups >> i & 1) s.latch_frame[i] = s.ppu_frames;
    }
}

uint8_t Console::decayed_latch() {
    if (s.ppu_frames - s.latch_frame[0] >= kLatchFrames) s.latch &= 0x3F;
    if (s.ppu_frames - s.latch_frame[1] >= kLatchFrames) s.latch &= 0xDF;
    if (s.ppu_frames - s.latch_frame[2] >= kLatchFrames) s.latch &= 0xE0;
    return s.latch;
}

uint8_t Console::ppu_read(uint16_t address, uint64_t n) {
    ppu_sync(3 * n + 2);
    switch (address & 7) {
        case 2: return read_status(n);
        case 4: {
            uint8_t at = s.oam_address;
            if (!blanked() && s.dot < kPreRenderDot) {
                const int line = s.dot / kDotsPerLine, x = s.dot - line * kDotsPerLine;
                if (x >= 65 && x <= 256) at = evaluate_sprites(line, s.oam_address, x).address;
            }
            refresh_latch(s.oam[at], kGroupHigh | kGroupMiddle | kGroupLow);
            return s.latch;
        }
        case 7: return read_data(n);
        default: return decayed_latch();
    }
}

uint8_t Console::read_status(uint64_t n) {
    const uint8_t low = decayed_latch() & 0x1F;
    refresh_latch(static_cast<uint8_t>(low | s.overflow << 5 | s.sprite0_hit << 6 | s.vblank << 7),
                  kGroupHigh | kGroupMiddle);
    s.write_toggle = 0;
    s.vblank = 0;
    drop_nmi_line(n);
    // A read just before the flag rises keeps it down for the whole frame.
    if (s.dot == kVblankDot - 1) s.suppress_vblank = 1;
    update_attention();
    return s.latch;
}

// The NMI line goes high again in cycle n: an edge of this very cycle was never sampled.
void Console::drop_nmi_line(uint64_t n) {
    if (s.nmi_line && s.nmi_edge == n) s.nmi_edge = kNever;
    s.nmi_line = 0;
}

uint8_t Console::read_data(uint64_t n) {
    if (n - s.data_read_cycle < kDataReadGap) return decayed_latch();
    s.data_read_cycle = n;
    const uint16_t address = s.v & 0x3FFF;
    if (rom_.mapper == 4) a12_access(address, 3 * n + 2);
    if (address >= 0x3F00) {
        uint8_t colour = vram_read(address);
        if (s.mask & 1) colour &= 0x30;
        refresh_latch(static_cast<uint8_t>((decayed_latch() & 0xC0) | colour), kGroupMiddle | kGroupLow);
        s.read_buffer = vram_read(static_cast<uint16_t>(address - 0x1000));
    } else {
        refresh_latch(s.read_buffer, kGroupHigh | kGroupMiddle | kGroupLow);
        s.read_buffer = vram_read(address);
    }
    advance_address();
    if (rom_.mapper == 4 && blanked()) a12_access(s.v & 0x3FFF, 3 * n + 2);
    return s.latch;
}

// After a $2007 access. While the PPU itself uses v, the access bumps both of its counters.
void Console::advance_address() {
    if (blanked()) {
        s.v = (s.v + (s.ctrl & 0x04 ? 32 : 1)) & 0x7FFF;
    } else {
        s.v = right(s.v);
        s.v = down(s.v);
    }
}

void Console::ppu_write(uint16_t address, uint8_t value, uint64_t n) {
    ppu_sync(3 * n + 2);
    refresh_latch(value, kGroupHigh | kGroupMiddle | kGroupLow);
    switch (address & 7) {
        case 0: write_ctrl(value, n); break;
        case 1: write_mask(value, n); break;
        case 3: s.oam_address = value; break;
        case 4:
            if (blanked()) {
                if ((s.oam_address & 3) == 2) value &= 0xE3;  // three attribute bits do not exist
                s.oam[s.oam_address++] = value;
                line_counts_valid_ = false;
            } else {
                s.oam_address += 4;
            }
            break;
        case 5:
            if (!s.write_toggle) {
                s.fine_x = value & 7;
                s.t = static_cast<uint16_t>((s.t & ~0x1F) | value >> 3);
            } else {
                s.t = static_cast<uint16_t>((s.t & 0x0C1F) | (value & 0xF8) << 2 | (value & 7) << 12);
            }
            s.write_toggle ^= 1;
            break;
        case 6:
            if (!s.write_toggle) {
                s.t = static_cast<uint16_t>((s.t & 0x00FF) | (value & 0x3F) << 8);
            } else {
                s.t = static_cast<uint16_t>((s.t & 0xFF00) | value);
                // v follows three ticks later, before the next access. (Not across the start of vblank: the frame would
                // end early, and v does not move there.)
                if (s.dot <= kLastVisibleDot || s.dot >= kPreRenderDot) ppu_sync(3 * n + 5);
                s.v = s.t;
                if (rom_.mapper == 4 && blanked()) {
                    a12_access(s.v & 0x3FFF, 3 * n + 5);
                    update_attention();
                }
            }
            s.write_toggle ^= 1;
            break;
        case 7: {
            const uint16_t to = s.v & 0x3FFF;
            if (rom_.mapper == 4) a12_access(to, 3 * n + 2);
            vram_write(to, to >= 0x3F00 || blanked() ? value : static_cast<uint8_t>(s.v));
            advance_address();
            if (rom_.mapper == 4) {
                if (blanked()) a12_access(s.v & 0x3FFF, 3 * n + 2);
                update_attention();
            }
            break;
        }
        default: break;
    }
}

void Console::write_ctrl(uint8_t value, uint64_t n) {
    if ((s.ctrl ^ value) & 0x20) line_counts_valid_ = false;
    s.ctrl = value;
    s.t = static_cast<uint16_t>((s.t & ~0x0C00) | (value & 3) << 10);
    if (!(value & 0x80)) {
        drop_nmi_line(n);
    } else if (s.vblank && !s.nmi_line) {
        // Turning NMI on within vblank is an edge too, unless the flag falls before the CPU samples the line.
        if (s.frame_tick0 + kPreRenderDot + 1 != 3 * n + 3) {
            s.nmi_line = 1;
            s.nmi_edge = n;
        }
    }
    update_attention();
}

void Console::write_mask(uint8_t value, uint64_t n) {
    const bool before = s.rendering;
    s.mask = value;
    const bool after = value & 0x18;
    if (before != after) {
        ppu_sync(3 * n + 3);  // one more tick as before
        s.rendering = after;
        if (!after && s.dot < kPreRenderDot && s.dot <= kLastVisibleDot) {
            const int x = s.dot % kDotsPerLine + 1;
            if (x >= 65 && x <= 256) {
                // Sprite evaluation stops where it stands, and steps once more.
                const int line = s.dot / kDotsPerLine;
                s.oam_address = static_cast<uint8_t>(evaluate_sprites(line, s.oam_address, x - 1).address + 1);
            }
        }
        if (rom_.mapper == 4) {
            if (!after && (s.dot <= kLastVisibleDot || s.dot >= kPreRenderDot)) a12_access(s.v & 0x3FFF, 3 * n + 4);
            update_attention();
        }
    }
}

}  // namespace nes
