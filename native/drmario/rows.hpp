// Eight cells at once: a field row as one word, column 0 in its lowest byte. Masks have $FF in the bytes they mean.
#pragma once

#include <bit>
#include <cstdint>

#include "ram.hpp"

namespace drmario {

// A field row read through the bytes of its cells, which the compiler must allow for.
typedef uint64_t __attribute__((may_alias, aligned(1))) Row;
static_assert(std::endian::native == std::endian::little, "column 0 must be the lowest byte");

constexpr Row repeat(uint8_t byte) {
    return 0x0101010101010101ull * byte;
}
constexpr Row kEmptyRow = ~0ull;
constexpr Row kTypes = repeat(kTypeBits);
constexpr Row column(int c) {
    return 0xFFull << 8 * c;
}

inline Row *field_rows(Field &field) {
    return reinterpret_cast<Row *>(field.cells);
}
inline const Row *field_rows(const Field &field) {
    return reinterpret_cast<const Row *>(field.cells);
}

// Bytes whose top bit is set become $FF, others 0.
inline Row spread_top_bit(Row bits) {
    return (bits >> 7 & repeat(1)) * 0xFF;
}

// Cells of $F0 and above.
inline Row gone(Row row) {
    return spread_top_bit(row & row << 1 & row << 2 & row << 3);
}

// Bytes that are 0 (each must be below $80) become $FF, others 0.
inline Row zero_bytes(Row small) {
    return spread_top_bit(~(small + repeat(0x7F)));
}

inline Row of_type(Row row, Cell type) {
    return zero_bytes(((row ^ repeat(type)) & kTypes) >> 4);
}

// One small number per cell: its colour, or 15 where nothing is.
inline Row colour_codes(Row row) {
    const Row nothing = gone(row);
    return (row & repeat(kColourBits)) | (nothing & repeat(0x0F));
}

inline Row same_colour(Row codes, Row other) {
    return zero_bytes(codes ^ other);
}

// Whether the row has four neighbours of one colour.
inline bool has_row_line(Row row) {
    const Row codes = colour_codes(row);
    // Byte 7 compares with the 0 shifted in: only the lower seven bytes say something.
    const Row pairs = same_colour(codes, codes >> 8) & ~column(7);
    return (pairs & pairs >> 8 & pairs >> 16 & ~gone(row)) != 0;
}

// $FF in the bytes of the columns that have four of one colour on top of each other.
inline Row column_lines(const Row *rows) {
    Row found = 0;
    Row codes = colour_codes(rows[0]);
    Row two = 0, three = 0;  // pairs (row above, this row) of one colour: in the row above, in the one above that
    for (int r = 1; r < kRows; ++r) {
        const Row next = colour_codes(rows[r]);
        const Row pair = same_colour(codes, next) & ~gone(rows[r]);
        found |= pair & two & three;
        three = two;
        two = pair;
        codes = next;
    }
    return found;
}

}  // namespace drmario
