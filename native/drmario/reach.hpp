// Sets of capsule positions in one row of the bottle, 32 at a time.
//
// A set has one byte per rotation and one bit per column in it. Whether a position is free depends on its row only, so
// moves and rotations of a whole set are a few operations on a word. Everything here follows the rules for moving and
// turning (falling.cpp).
#pragma once

#include <bit>
#include <cstdint>

#include "rows.hpp"
#include "rules.hpp"

namespace drmario {

using Positions = uint32_t;

constexpr Positions kHorizontal = 0x00FF00FF;  // rotations 0 and 2
constexpr Positions kVertical = 0xFF00FF00;    // rotations 1 and 3
constexpr Positions kRightmost = 0x80408040;   // a capsule cannot be further right
constexpr Positions kLeftmost = 0x01010101;

constexpr Positions one_position(int x, int rotation) {
    return 1u << (8 * rotation + x);
}

// Where a capsule fits, row by row from the top; nowhere below the bottom row.
struct Room {
    Positions rows[kRows + 1];

    explicit Room(const Field &field) {
        unsigned above = free_columns(field_rows(field)[kRowAbove]);
        for (int r = 0; r < kRows; ++r) {
            const unsigned free = free_columns(field_rows(field)[r]);
            const Positions horizontal = free & free >> 1, vertical = free & above;
            rows[r] = (horizontal | vertical << 8) * 0x00010001u;
            above = free;
        }
        rows[kRows] = 0;
    }

    // The room in row y, counted from the bottom as a capsule's y is; y = -1: none.
    Positions at(int y) const { return rows[kRows - 1 - y]; }

  private:
    static constexpr int kRowAbove = 31;  // where an 8-bit index comes to that goes up from row 0: always empty

    // Bit c: the cell of column c is exactly $FF.
    static unsigned free_columns(Row row) {
        const Row taken = ~row;
        const Row top = ~((taken & repeat(0x7F)) + repeat(0x7F)) & ~taken & repeat(0x80);
        return static_cast<unsigned>((top >> 7) * 0x0102040810204080ull >> 56);
    }
};

// One column to the right or left; the positions that cannot move are left out.
inline Positions moved_right(Positions from, Positions room) {
    return (from & ~kRightmost) << 1 & room;
}
inline Positions moved_left(Positions from, Positions room) {
    return (from & ~kLeftmost) >> 1 & room;
}

// What a press of A (clockwise) or B makes of every position; those that cannot turn stay.
struct Turn {
    Positions room;
    bool left_held;

    Positions clockwise(Positions from) const { return turn<8>(from); }
    Positions counter_clockwise(Positions from) const { return turn<24>(from); }
    // The buttons of a pad byte: A first, then B.
    Positions press(Positions from, uint8_t buttons) const {
        if (buttons & kA) from = clockwise(from);
        if (buttons & kB) from = counter_clockwise(from);
        return from;
    }

  private:
    template <int kBits>
    Positions turn(Positions from) const {
        const Positions target = std::rotr(from, kBits);
        const Positions fits = target & room;
        const Positions wide_room = room & kHorizontal;
        // To horizontal: LEFT held moves one further where it can; where it does not fit, it is tried one to the left.
        Positions turned = fits;
        if (left_held) {
            const Positions further = fits & wide_room << 1;
            turned = (fits & ~further) | further >> 1;
        }
        const Positions kickable = target & ~room & kHorizontal & wide_room << 1;
        const Positions stays = target & ~room & ~kickable;
        return turned | kickable >> 1 | std::rotl(stays, kBits);
    }
};

}  // namespace drmario
