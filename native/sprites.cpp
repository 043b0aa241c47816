// Sprite evaluation: which sprites the next line shows, when the overflow flag rises, where sprite 0 hits.
#include <cstring>

#include "console.hpp"
#include "scroll.hpp"

namespace nes {

// The hardware's search through OAM in dots 65-256 of `line`, two dots a step, as far as dot `until`. It starts at the
// OAM address `start` (0 unless a program interfered). After eight sprites it goes on looking for a ninth with the
// famous bug: it steps through the bytes of the entries as well, and so both misses and invents overflows.
Console::Evaluation Console::evaluate_sprites(int line, uint8_t start, int until) const {
    Evaluation e;
    uint8_t at = start;
    const int height = sprite_height();
    auto in_range = [&](uint8_t y) { return line >= y && line - y < height; };
    enum { search, overflow_search, idle } step = search;
    int delay = 0;
    for (int x = 66; x <= until && x <= 256; x += 2) {
        if (step == search) {
            const uint8_t value = s.oam[at];
            e.entries[e.count & 7][at & 3] = value;
            if ((at & 3) == 0) {
                if (in_range(value)) {
                    if (at == 0) e.sprite0 = true;
                    ++at;
                } else {
                    at = static_cast<uint8_t>(at + 4);
                    if (at == 0) {
                        step = idle;
                    } else if (e.count == 8) {
                        step = overflow_search;
                    }
                }
            } else if ((++at & 3) == 0) {
                ++e.count;
                if (at == 0) {
                    step = idle;
                } else if (e.count == 8) {
                    step = overflow_search;
                }
            }
        } else if (step == overflow_search) {
            if (delay) {
                --delay;
            } else if (in_range(s.oam[at])) {
                if (!e.overflow_x) e.overflow_x = x;
                ++at;
                delay = 3;
            } else {
                const uint8_t low = (at + 1) & 3;
                at = static_cast<uint8_t>((at + 4) & 0xFC);
                if (at == 0) step = idle;
                at |= low;
            }
        } else {
            at = 0;
        }
    }
    e.address = at;
    return e;
}

// How many sprites are in range on a visible `line` (they show on the next one). A line can overflow only if there are at least
// eight (the bug needs eight, too).
int Console::sprites_in_range(int line) const {
    if (!line_counts_valid_) {
        // Count starts and ends of sprites, then sum up.
        int8_t change[256 + 32] = {};
        const int height = sprite_height();
        for (int i = 0; i < 64; ++i) {
            ++change[s.oam[i * 4]];
            --change[s.oam[i * 4] + height];
        }
        int count = 0;
        bool crowded = false;
        for (int y = 0; y < 240; ++y) {
            line_counts_[y] = static_cast<uint8_t>(count += change[y]);
            crowded |= count >= 8;
        }
        any_crowded_line_ = crowded;
        line_counts_valid_ = true;
    }
    return line_counts_[line];
}

// The first line from `line` on that may overflow; 240 if there is none.
int Console::crowded_line(int line) const {
    sprites_in_range(0);  // counts
    if (!any_crowded_line_) return 240;
    while (line < 240 && !line_may_overflow(line)) ++line;
    return line;
}

// Sprite 0 on `line`, whose background starts with the tile before v by two (v is ahead by the prefetch):
// the dot of the first hit at or after dot `from_x`, or 0.
int Console::predict_sprite0_hit(int line, uint16_t v, int from_x) const {
    const uint64_t sprite = sprite_row(s.oam, line);
    if (!sprite) return 0;
    // Step v back to the line's first tile.
    for (int i = 0; i < 2; ++i) v = left(v);
    const int edge = s.oam[3];
    const int first = edge + s.fine_x;
    for (int i = 0; i < first / 8; ++i) v = right(v);
    uint8_t background[16];
    uint64_t row = tile_row(v);
    std::memcpy(background, &row, 8);
    v = right(v);
    row = tile_row(v);
    std::memcpy(background + 8, &row, 8);
    for (int i = 0; i < 8; ++i) {
        const int x = edge + i;
        if (x >= 255) break;
        if (x + 1 < from_x) continue;
        if (x < 8 && (s.mask & 0x06) != 0x06) continue;
        if ((sprite >> (8 * i) & 3) && (background[(first & 7) + i] & 3)) return x + 1;
    }
    return 0;
}

}  // namespace nes
