// The PPU's clock. Nothing runs per dot: ppu_sync brings v, the status flags and (if somebody looks) the picture up to a
// given tick, whole lines at a time where nothing interferes.
//
// Rendering follows the mask register one tick late. v moves as the hardware's address unit does: coarse x after every
// tile, y at dot 256, x reload at 257, y reload on the pre-render line at 280-304.
#include "console.hpp"
#include "scroll.hpp"

namespace nes {
namespace {

constexpr int kIdleDot = 240 * kDotsPerLine + 1;

}  // namespace

void Console::ppu_sync(uint64_t tick) {
    while (s.frame_tick0 + static_cast<uint64_t>(s.dot + 1) <= tick) {
        const uint64_t into = tick - s.frame_tick0;
        const int target = into >= kDotsPerFrame ? kDotsPerFrame - 1 : static_cast<int>(into);
        run_dots(target);
        if (s.dot == kDotsPerFrame - 1) {
            s.frame_tick0 += kDotsPerFrame;
            s.dot = -1;
            s.odd_frame ^= 1;
            s.sprites_ready = 0;
            ++s.ppu_frames;
        }
    }
}

// Runs dots s.dot+1 .. target of the current frame.
void Console::run_dots(int target) {
    while (s.dot < target) {
        const int next = s.dot + 1;
        const int line = next / kDotsPerLine;
        const int x = next - line * kDotsPerLine;
        if (line < 240) {
            if (!s.rendering) {
                // No fetches: nothing but the backdrop colour.
                const int end = target < kLastVisibleDot ? target : kLastVisibleDot;
                if (drawing_) {
                    for (int at = next; at <= end;) {
                        const int row = at / kDotsPerLine, from = at - row * kDotsPerLine;
                        const int last = end - row * kDotsPerLine < 340 ? end - row * kDotsPerLine : 340;
                        draw_blank(row, from, last);
                        at = row * kDotsPerLine + last + 1;
                    }
                }
                if ((end - next) >= kDotsPerLine || end / kDotsPerLine != line) s.sprites_ready = 0;
                s.dot = end;
                continue;
            }
            if (x == 0 && !drawing_ && rom_.mapper != 4 && skip_lines(line, (target + 1) / kDotsPerLine)) continue;
            const int line_end = line * kDotsPerLine + 340;
            const int last = target < line_end ? target - line * kDotsPerLine : 340;
            run_visible_line(line, x, last);
            s.dot = line * kDotsPerLine + last;
        } else if (next < kVblankDot) {
            // Done with the picture, the PPU leaves v on its address bus.
            if (rom_.mapper == 4 && next <= kIdleDot && target >= kIdleDot) {
                a12_access(s.v & 0x3FFF, s.frame_tick0 + kIdleDot);
            }
            s.dot = target < kVblankDot - 1 ? target : kVblankDot - 1;
        } else if (next == kVblankDot) {
            if (!s.suppress_vblank) {
                s.vblank = 1;
                // Still set since power-on, the flag makes no new edge.
                if ((s.ctrl & 0x80) && !s.nmi_line) {
                    s.nmi_line = 1;
                    s.nmi_edge = (s.frame_tick0 + kVblankDot + 2) / 3 - 1;
                }
            }
            s.suppress_vblank = 0;
            s.frame_ready = 1;
            ++s.frames;
            attention_ = 0;  // the frame is over, and perhaps an NMI is due: look at the next boundary
            s.dot = kVblankDot;
        } else if (next < kPreRenderDot) {
            s.dot = target < kPreRenderDot - 1 ? target : kPreRenderDot - 1;
        } else {
            const int last = target - kPreRenderDot;
            run_pre_render(x, last);
            // With rendering on, odd frames leave out the last dot.
            if (last >= 339 && x <= 339 && s.rendering && s.odd_frame) {
                --s.frame_tick0;
                s.dot = kDotsPerFrame - 1;
            } else {
                s.dot = target;
            }
        }
    }
}

// Whole lines from `line` up to (not including) `end` that nobody looks at and on which nothing can happen: only v moves.
// Returns whether there was one.
bool Console::skip_lines(int line, int end) {
    if (s.oam_address) return false;
    int stop = end < 240 ? end : 240;
    const int sprite0_top = s.oam[0] + 1;
    if (!s.sprite0_hit && line < sprite0_top + sprite_height() && stop > sprite0_top) {
        stop = line > sprite0_top ? line : sprite0_top;  // its rows are looked at one by one
    }
    if (!s.overflow) {
        const int crowded = crowded_line(line);
        if (crowded < stop) stop = crowded;
    }
    if (stop <= line) return false;
    s.v = right(right(reload_x(down(s.v, stop - line), s.t)));
    s.sprites_ready = 1;
    s.dot = stop * kDotsPerLine - 1;
    return true;
}

// Dots first..last of a visible line with rendering on.
void Console::run_visible_line(int line, int first, int last) {
    const bool whole = first == 0 && last == 340;
    const int sprite0_row = line - 1 - s.oam[0];
    const bool sprite0_here = !s.sprite0_hit && sprite0_row >= 0 && sprite0_row < sprite_height();
    if (rom_.mapper == 4) a12_line(line, first, last);
    if (drawing_) {
        if (whole) {
            draw_whole_line(line);
        } else {
            draw_span(line, first, last);
        }
    }
    // Sprite 0 can only hit where both layers are on.
    if (sprite0_here && s.sprites_ready && (s.mask & 0x18) == 0x18 && first <= 256) {
        // v as it was at the start of the line: the fetches since then moved coarse x.
        uint16_t v = s.v;
        for (int moved = first > 0 ? (first - 1) / 8 : 0; moved > 0; --moved) v = left(v);
        const int hit = predict_sprite0_hit(line, v, first);
        if (hit > 0 && hit <= last) s.sprite0_hit = 1;
    }
    if (!s.overflow && last >= 66 && (s.oam_address || line_may_overflow(line))) {
        const int at = evaluate_sprites(line, s.oam_address, 256).overflow_x;
        if (at >= first && at && at <= last) s.overflow = 1;
    }
    if (first <= 256 && last >= 256) s.sprites_ready = 1;
    if (first <= 257 && last >= 257) s.oam_address = 0;

    // v.
    if (first <= 256 && last >= 257) {
        s.v = reload_x(down(s.v), s.t);  // what coarse x was does not matter any more
    } else if (first <= 256) {
        for (int x = first < 8 ? 8 : (first + 7) & ~7; x <= last; x += 8) s.v = right(s.v);
        if (last == 256) s.v = down(s.v);
    } else if (first == 257) {
        s.v = reload_x(s.v, s.t);
    }
    if (first <= 328 && last >= 328) s.v = right(s.v);
    if (first <= 336 && last >= 336) s.v = right(s.v);
}

void Console::run_pre_render(int first, int last) {
    if (first == 0) {
        s.overflow = s.sprite0_hit = 0;
        s.sprites_ready = 0;
    }
    if (first <= 1 && last >= 1) {
        s.vblank = 0;
        s.nmi_line = 0;
    }
    if (!s.rendering) return;
    if (rom_.mapper == 4) a12_line(261, first, last);
    for (int x = first < 8 ? 8 : (first + 7) & ~7; x <= last && x <= 256; x += 8) s.v = right(s.v);
    if (first <= 256 && last >= 256) s.v = down(s.v);
    if (first <= 257 && last >= 257) {
        s.v = reload_x(s.v, s.t);
        s.oam_address = 0;
    }
    if (first <= 304 && last >= 280) s.v = (s.v & ~0x7BE0) | (s.t & 0x7BE0);
    if (first <= 328 && last >= 328) s.v = right(s.v);
    if (first <= 336 && last >= 336) s.v = right(s.v);
}

// The tick of the next thing that must not pass unnoticed.
uint64_t Console::ppu_event_tick() const {
    uint64_t tick = s.frame_tick0 + static_cast<uint64_t>(s.dot < kVblankDot ? kVblankDot : kDotsPerFrame);
    if (rom_.mapper == 4 && s.irq_enabled && s.rendering && s.mapper_irq_since == kNever) {
        int line = (s.dot + 1) / kDotsPerLine, x = s.dot - line * kDotsPerLine;
        if (line >= 240 && line < 261) line = 261, x = -1;
        int at = next_a12_event(line, x);
        if (at < 0) {
            line = line == 261 ? 262 : line + 1;
            at = next_a12_event(line, -1);
        }
        if (at > 0 && line < 262 && (line < 240 || line == 261)) {
            const uint64_t clock = s.frame_tick0 + static_cast<uint64_t>(line * kDotsPerLine + at);
            if (clock < tick) tick = clock;
        }
    }
    return tick;
}

// The first tick from now at which a read of $2002 might give another value (if no register is written before).
uint64_t Console::next_status_change() const {
    const int x = (s.dot + 1) % kDotsPerLine;
    const int line = (s.dot + 1) / kDotsPerLine;
    int change = s.dot < kVblankDot ? kVblankDot : s.dot < kPreRenderDot ? kPreRenderDot : kDotsPerFrame;
    if (line < 240 && s.rendering) {
        if (!s.sprite0_hit && (s.mask & 0x18) == 0x18) {
            // Walk v down to the lines that show sprite 0.
            uint16_t v = s.v;
            int row = line;
            const int first = s.oam[0] + 1, end = first + sprite_height();
            if (x > 1) {
                // This line is under way: look at it again when it is done, if it shows sprite 0.
                if (s.sprites_ready && row >= first && row < end)
                    return s.frame_tick0 + static_cast<uint64_t>(s.dot + 1);
                v = right(right(reload_x(x <= 256 ? down(v) : v, s.t)));
                ++row;
            }
            for (; row < end && row < 240; ++row) {
                if (row >= first && (row > line || s.sprites_ready)) {
                    const int hit = predict_sprite0_hit(row, v, 0);
                    if (hit > 0) {
                        const int at = row * kDotsPerLine + hit;
                        if (at < change) change = at;
                        break;
                    }
                }
                v = next_line(v, s.t);
            }
        }
        if (!s.overflow) {
            if (s.oam_address) return s.frame_tick0 + static_cast<uint64_t>(s.dot + 1);
            for (int row = crowded_line(line); row * kDotsPerLine < change && row < 240; row = crowded_line(row + 1)) {
                const int at = evaluate_sprites(row, 0, 256).overflow_x;
                if (at && row * kDotsPerLine + at > s.dot) {
                    if (row * kDotsPerLine + at < change) change = row * kDotsPerLine + at;
                    break;
                }
            }
        }
    }
    return s.frame_tick0 + static_cast<uint64_t>(change) - (change == kDotsPerFrame ? 1 : 0);
}

}  // namespace nes
