// The PPU's address register v as a scroll position: yyy NN YYYYY XXXXX (fine y, nametable, coarse y, coarse x).
#pragma once

#include <cstdint>

namespace nes {

// One tile to the right, into the neighbouring nametable at the edge.
inline uint16_t right(uint16_t v) {
    return static_cast<uint16_t>((v & 0x1F) == 0x1F ? (v & ~0x1F) ^ 0x400 : v + 1);
}

// One tile to the left.
inline uint16_t left(uint16_t v) {
    return static_cast<uint16_t>((v & 0x1F) == 0 ? (v | 0x1F) ^ 0x400 : v - 1);
}

// One pixel row down. Rows 30 and 31 of a nametable hold attributes: 29 wraps to the next table, 31 within its own.
inline uint16_t down(uint16_t v) {
    if ((v & 0x7000) != 0x7000) return static_cast<uint16_t>(v + 0x1000);
    v &= 0x0FFF;
    const unsigned row = v >> 5 & 0x1F;
    if (row == 29) return static_cast<uint16_t>((v & ~0x03E0) ^ 0x0800);
    if (row == 31) return static_cast<uint16_t>(v & ~0x03E0);
    return static_cast<uint16_t>(v + 0x20);
}

// Several pixel rows down.
inline uint16_t down(uint16_t v, int rows) {
    if ((v >> 5 & 0x1F) >= 30) {  // in the attributes: row by row
        for (; rows > 0; --rows) v = down(v);
        return v;
    }
    const unsigned y = (v >> 2 & 0xF8u) + (v >> 12) + static_cast<unsigned>(rows);
    const unsigned within = y % 240;
    v = static_cast<uint16_t>((v & 0x0C1F) | (within & 7) << 12 | (within & 0xF8) << 2);
    return y / 240 & 1 ? v ^ 0x0800 : v;
}

// The horizontal part of v reloaded from t, as at dot 257.
inline uint16_t reload_x(uint16_t v, uint16_t t) {
    return static_cast<uint16_t>((v & ~0x041F) | (t & 0x041F));
}

// v after a whole line from its start, or from anywhere before dot 256: down, reload, two prefetched tiles.
inline uint16_t next_line(uint16_t v, uint16_t t) {
    return right(right(reload_x(down(v), t)));
}

}  // namespace nes
