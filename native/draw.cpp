// Pixels: background and sprites of a line, composed into palette indices.
#include <array>
#include <cstring>

#include "console.hpp"
#include "pixels.hpp"
#include "scroll.hpp"

namespace nes {
namespace {

// One bit plane of a tile row spread to eight bytes, leftmost pixel first; `mirrored` for flipped sprites.
constexpr std::array<uint64_t, 256> spread(bool mirrored) {
    std::array<uint64_t, 256> table{};
    for (int bits = 0; bits < 256; ++bits) {
        for (int x = 0; x < 8; ++x) {
            const int bit = mirrored ? x : 7 - x;
            table[static_cast<size_t>(bits)] |= static_cast<uint64_t>(bits >> bit & 1) << (8 * x);
        }
    }
    return table;
}

constexpr std::array<uint64_t, 256> kSpread = spread(false);
constexpr std::array<uint64_t, 256> kMirrored = spread(true);
constexpr uint64_t kOnes = 0x0101010101010101ull;

uint8_t palette_index(uint16_t address) {
    const uint8_t i = address & 0x1F;
    return (i & 3) == 0 ? i & 0x0F : i;  // the sprites' entry 0 is the background's
}

}  // namespace

uint8_t Console::vram_read(uint16_t address) const {
    if (address >= 0x3F00) return s.palette[palette_index(address)];
    if (address >= 0x2000) return nametable_[address >> 10 & 3][address & 0x3FF];
    return chr_read(address);
}

void Console::vram_write(uint16_t address, uint8_t value) {
    if (address >= 0x3F00) {
        s.palette[palette_index(address)] = value & 0x3F;
    } else if (address >= 0x2000) {
        nametable_[address >> 10 & 3][address & 0x3FF] = value;
        line_.row_key = 0;
    } else if (rom_.has_chr_ram()) {
        const_cast<uint8_t *>(chr_[address >> 10])[address & 0x3FF] = value;
    }
}

// The eight pixels (palette entry 0-15, 0 = transparent) of the background tile row that v points at.
uint64_t Console::tile_row(uint16_t v) const {
    const uint8_t *table = nametable_[v >> 10 & 3];
    const uint16_t tile = table[v & 0x3FF];
    const uint8_t attributes = table[0x3C0 | (v >> 4 & 0x38) | (v >> 2 & 7)];
    const uint64_t palette = attributes >> ((v >> 4 & 4) | (v & 2)) & 3;
    const uint16_t pattern = static_cast<uint16_t>((s.ctrl & 0x10) << 8 | tile << 4 | v >> 12);
    const uint64_t row = kSpread[chr_read(pattern)] | kSpread[chr_read(pattern + 8)] << 1;
    const uint64_t opaque = (row | row >> 1) & kOnes;
    return row | opaque * (palette << 2);
}

// The eight pixels (0-3) of a sprite on `line`.
uint64_t Console::sprite_row(const uint8_t *sprite, int line) const {
    const int height = sprite_height();
    int row = line - 1 - sprite[0];
    if (row < 0 || row >= height) return 0;
    if (sprite[2] & 0x80) row = height - 1 - row;
    unsigned pattern;
    if (height == 16) {
        pattern = static_cast<unsigned>((sprite[1] & 1) << 12 | (sprite[1] & 0xFE) << 4 | (row & 8) << 1 | (row & 7));
    } else {
        pattern = static_cast<unsigned>((s.ctrl & 8) << 9 | sprite[1] << 4 | row);
    }
    const auto &table = sprite[2] & 0x40 ? kMirrored : kSpread;
    return table[chr_read(static_cast<uint16_t>(pattern))] | table[chr_read(static_cast<uint16_t>(pattern + 8))] << 1;
}

// Sprites of the line into line_.sprites, first sprite on top; at most eight.
void Console::begin_line(int line) {
    line_.tiles = 0;
    line_.any_sprites = false;
    picture_->emphasis[line] = s.mask >> 5;
    if (!s.sprites_ready || line == 0) return;
    const int in_range = sprites_in_range(line - 1), shown = in_range < 8 ? in_range : 8;
    const int height = sprite_height();
    int found[8], count = 0;
    for (int i = 0; i < 64 && count < shown; ++i) {
        const int row = line - 1 - s.oam[i * 4];
        if (row >= 0 && row < height) found[count++] = i;
    }
    if (!count) return;
    line_.any_sprites = true;
    std::memset(line_.sprites, 0, sizeof line_.sprites);
    while (count--) {
        const uint8_t *sprite = s.oam + found[count] * 4;
        const uint64_t row = sprite_row(sprite, line);
        const uint8_t look = static_cast<uint8_t>(0x10 | (sprite[2] & 3) << 2 | (sprite[2] & 0x20) << 2);
        uint8_t *out = line_.sprites + sprite[3];
        for (int x = 0; x < 8; ++x) {
            const uint8_t pixel = row >> (8 * x) & 3;
            if (pixel) out[x] = look | pixel;
        }
    }
}

// Background tiles line_.tiles .. count-1; v points at the next one to fetch.
void Console::fetch_line_tiles(uint16_t v, int count) {
    for (int i = line_.tiles; i < count; ++i) {
        const uint64_t row = tile_row(v);
        std::memcpy(line_.background + 8 * i, &row, 8);
        v = right(v);
    }
    if (count > line_.tiles) line_.tiles = count;
}

// Pixels from..to-1 of a line whose tiles and sprites are there.
void Console::compose(int line, int from, int to) {
    uint8_t *out = picture_->pixels[line];
    alignas(8) uint8_t layer[kWidth];
    if (s.mask & 0x08) {
        std::memcpy(layer + from, line_.background + s.fine_x + from, static_cast<size_t>(to - from));
        if (!(s.mask & 0x02) && from < 8) std::memset(layer + from, 0, static_cast<size_t>((to < 8 ? to : 8) - from));
    } else {
        std::memset(layer + from, 0, static_cast<size_t>(to - from));
    }
    if ((s.mask & 0x10) && line_.any_sprites) {
        const int start = s.mask & 0x04 ? from : from < 8 ? 8 : from;
        if (start < to) merge_sprites(layer + start, line_.sprites + start, static_cast<size_t>(to - start));
    }
    uint8_t colours[32];
    const uint8_t grey = s.mask & 1 ? 0x30 : 0x3F;
    for (int i = 0; i < 32; ++i) colours[i] = s.palette[(i & 3) == 0 ? 0 : i] & grey;
    map32(layer + from, out + from, static_cast<size_t>(to - from), colours);
}

// The 33 tiles of a whole line. The eight lines of a tile row share names and attributes: look them up once.
void Console::fetch_whole_line(uint16_t v) {
    const uint32_t key = (v & 0x0FFFu) | (s.ctrl & 0x10u) << 12 | 1u << 20;
    if (line_.row_key != key) {
        line_.row_key = key;
        uint16_t at = v;
        for (int i = 0; i < 33; ++i) {
            const uint8_t *table = nametable_[at >> 10 & 3];
            const uint8_t attributes = table[0x3C0 | (at >> 4 & 0x38) | (at >> 2 & 7)];
            line_.row_patterns[i] = static_cast<uint16_t>((s.ctrl & 0x10) << 8 | table[at & 0x3FF] << 4);
            line_.row_palettes[i] = static_cast<uint8_t>((attributes >> ((at >> 4 & 4) | (at & 2)) & 3) << 2);
            at = right(at);
        }
    }
    const unsigned fine_y = v >> 12;
    for (int i = 0; i < 33; ++i) {
        const unsigned pattern = line_.row_patterns[i] | fine_y;
        const uint8_t *chr = chr_[pattern >> 10] + (pattern & 0x3FF);
        const uint64_t row = kSpread[chr[0]] | kSpread[chr[8]] << 1;
        const uint64_t opaque = (row | row >> 1) & kOnes;
        const uint64_t pixels = row | opaque * line_.row_palettes[i];
        std::memcpy(line_.background + 8 * i, &pixels, 8);
    }
    line_.tiles = 33;
}

void Console::draw_whole_line(int line) {
    begin_line(line);
    if (s.mask & 0x08) fetch_whole_line(left(left(s.v)));
    compose(line, 0, kWidth);
    line_.tiles = 0;
}

// A line with a register write in the middle: what was fetched before stays.
void Console::draw_span(int line, int first, int last) {
    if (first == 0 || line_.tiles == 0) {
        begin_line(line);
        uint16_t v = s.v;
        for (int i = 0; i < 2; ++i) v = left(v);
        const int missed = first > 0 && first <= 256 ? (first - 1) / 8 : 0;
        for (int i = 0; i < missed; ++i) v = left(v);
        fetch_line_tiles(v, 2 + missed);
    }
    // Tile g+2 is complete at dot 8g+7.
    const int end = last > 256 ? 256 : last;
    if (first <= 256) {
        const int complete = 2 + (end + 1) / 8;
        if (complete > line_.tiles) {
            uint16_t v = s.v;
            const int passed = (first > 0 ? first - 1 : 0) / 8 + 2;  // the tile v points at
            for (int i = passed; i < line_.tiles; ++i) v = right(v);
            for (int i = line_.tiles; i < passed; ++i) v = left(v);
            fetch_line_tiles(v, complete > 34 ? 34 : complete);
        }
        const int from = first > 0 ? first - 1 : 0;
        if (end > from) compose(line, from, end);
    }
    if (last == 340) line_.tiles = 0;
}

// Rendering off: the backdrop, or the palette entry v points at.
void Console::draw_blank(int line, int first, int last) {
    picture_->emphasis[line] = s.mask >> 5;
    const int from = first > 0 ? first - 1 : 0, to = last > 256 ? 256 : last;
    line_.tiles = 0;
    if (to <= from) return;
    const uint8_t grey = s.mask & 1 ? 0x30 : 0x3F;
    const uint8_t entry = (s.v & 0x3FFF) >= 0x3F00 ? palette_index(s.v) : 0;
    std::memset(picture_->pixels[line] + from, s.palette[entry] & grey, static_cast<size_t>(to - from));
}

}  // namespace nes
