// Reading many lanes' memory into arrays: the loops a game's observation needs, each of which takes NumPy many passes.
// They know nothing of any game; their callers (bindings.cpp) have checked that every address is within the memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nes {

// Bytes of `lanes` memories that lie `stride` bytes apart.
struct Memories {
    const uint8_t *data;
    size_t lanes;
    size_t size;  // bytes of each
    ptrdiff_t stride;

    const uint8_t *lane(size_t i) const { return data + static_cast<ptrdiff_t>(i) * stride; }
};

// out[k][lane] = memory[lane][addresses[k]]
inline void gather(const Memories &memories, const int64_t *addresses, size_t count, uint8_t *out) {
    for (size_t lane = 0; lane < memories.lanes; ++lane) {
        const uint8_t *memory = memories.lane(lane);
        for (size_t k = 0; k < count; ++k) out[k * memories.lanes + lane] = memory[addresses[k]];
    }
}

// Numbers of two bytes, modulo 2^16: out[k][lane] = memory[lane][high[k]] << 8 | memory[lane][low[k]]
inline void gather_words(const Memories &memories, const int64_t *low, const int64_t *high, size_t count,
                         int16_t *out) {
    for (size_t lane = 0; lane < memories.lanes; ++lane) {
        const uint8_t *memory = memories.lane(lane);
        for (size_t k = 0; k < count; ++k) {
            out[k * memories.lanes + lane] = static_cast<int16_t>(memory[high[k]] << 8 | memory[low[k]]);
        }
    }
}

// Decimal numbers, one digit (0-9) a byte, highest first: digits[k] of them from starts[k] on.
inline void gather_decimals(const Memories &memories, const int64_t *starts, const int64_t *digits, size_t count,
                            int32_t *out) {
    for (size_t lane = 0; lane < memories.lanes; ++lane) {
        for (size_t k = 0; k < count; ++k) {
            const uint8_t *digit = memories.lane(lane) + starts[k];
            uint32_t number = 0;
            for (int64_t i = 0; i < digits[k]; ++i) number = number * 10 + digit[i];
            out[k * memories.lanes + lane] = static_cast<int32_t>(number);
        }
    }
}

// out[lane][k] = tables[k][memory[lane][addresses[k]]]; `out_stride` floats from lane to lane
inline void look_up(const Memories &memories, const int64_t *addresses, size_t count, const float *tables, float *out,
                    ptrdiff_t out_stride) {
    for (size_t lane = 0; lane < memories.lanes; ++lane, out += out_stride) {
        const uint8_t *memory = memories.lane(lane);
        for (size_t k = 0; k < count; ++k) out[k] = tables[k * 256 + memory[addresses[k]]];
    }
}

// Marks things in planes of rows x columns: out[lane][plane][row][column] = 1 for each that is there and inside.
struct Marks {
    size_t things, lanes;
    const bool *there;  // all four: things x lanes
    const int16_t *plane, *row, *column;
    int planes, rows, columns;
    float *out;
    ptrdiff_t out_stride;
};

inline void mark(const Marks &m) {
    for (size_t i = 0; i < m.things * m.lanes; ++i) {
        const int plane = m.plane[i], row = m.row[i], column = m.column[i];
        if (!m.there[i] || plane < 0 || plane >= m.planes || row < 0 || row >= m.rows || column < 0 ||
            column >= m.columns) {
            continue;
        }
        m.out[static_cast<ptrdiff_t>(i % m.lanes) * m.out_stride + (plane * m.rows + row) * m.columns + column] = 1;
    }
}

// A window of rows x columns bytes of each memory, each byte turned into one number per table.
//
// starts[lane][c] is the address of column c's first row, rows are row_stride apart; a negative start -1-k stands for a
// column of bytes outside[k]. out[lane] holds one plane of rows x columns per table.
struct Window {
    size_t rows, columns, row_stride;
    const int64_t *starts;
    const uint8_t *outside;
    const float *tables;  // planes x 256
    size_t planes;
    float *out;
    ptrdiff_t out_stride;  // floats from lane to lane
};

inline void look_up_window(const Memories &memories, const Window &w) {
    const size_t cells = w.rows * w.columns;
    for (size_t lane = 0; lane < memories.lanes; ++lane) {
        const uint8_t *memory = memories.lane(lane);
        float *out = w.out + static_cast<ptrdiff_t>(lane) * w.out_stride;
        for (size_t c = 0; c < w.columns; ++c) {
            const int64_t start = w.starts[lane * w.columns + c];
            const uint8_t *from = start < 0 ? &w.outside[-1 - start] : memory + start;
            const size_t step = start < 0 ? 0 : w.row_stride;
            for (size_t r = 0; r < w.rows; ++r) {
                const uint8_t byte = from[r * step];
                for (size_t p = 0; p < w.planes; ++p) out[p * cells + r * w.columns + c] = w.tables[p * 256 + byte];
            }
        }
    }
}

}  // namespace nes
