// One falling capsule, followed frame by frame over the room it has.
#pragma once

#include <algorithm>

#include "placements.hpp"

namespace drmario {

struct Capsule {
    uint8_t x, y, rotation;
    uint8_t gravity, das, held;

    Position position() const { return {x, y, rotation}; }
    bool fits(Positions room) const { return room & one_position(x, rotation); }

    // The same as fall() does to the field's bytes (falling.cpp); true if the capsule has locked.
    bool frame(const Room &room, int threshold, bool odd, uint8_t pad) {
        const uint8_t pressed = static_cast<uint8_t>(pad & ~held);
        held = pad;
        if ((odd && (pad & kDirections) == kDown) || ++gravity > threshold) {
            gravity = 0;
            if (!fits(room.at(y - 1))) return true;
            --y;
        }
        const Positions here = room.at(y);
        if (moves(pressed)) {
            if (pad & kRight) shift(here, kRightmost, +1);
            if (pad & kLeft) shift(here, kLeftmost, -1);
        }
        if (pressed & (kA | kB)) {
            const Turn turn{here, (pad & kLeft) != 0};
            const int bit = std::countr_zero(turn.press(one_position(x, rotation), pressed));
            x = bit & 7;
            rotation = static_cast<uint8_t>(bit >> 3);
        }
        return false;
    }

  private:
    bool moves(uint8_t pressed) {
        if (pressed & (kLeft | kRight)) {
            das = 0;
        } else if (!(held & (kLeft | kRight)) || ++das < 16) {
            return false;
        } else {
            das = 10;
        }
        return true;
    }

    void shift(Positions here, Positions wall, int by) {
        if (fits(wall)) return;
        x = static_cast<uint8_t>(x + by);
        if (fits(here)) return;
        x = static_cast<uint8_t>(x - by);
        das = 15;
    }
};

// Frames that pass at least until the capsule can have locked at the target; `odd`: the next frame's count is.
inline int frames_at_least(const Capsule &from, const Position &target, int threshold, bool odd) {
    const int drops = from.y - target.y + 1;  // the last one locks
    int down;
    if (threshold == 0) {
        down = drops;
    } else if (odd) {
        down = 2 * drops - 1;
    } else if (from.gravity >= threshold) {  // gravity takes the next frame, soft drop every odd one after it
        down = std::max(2 * drops - 2, 1);
    } else {
        down = 2 * drops;
    }
    // A press needs a release before it; to the left, a turn can add a column to each press. What is held already
    // cannot move the capsule in the next frame, unless by auto shift. A move counts in the frame before the lock.
    const int columns = target.x - from.x;
    const bool held = from.held & (columns > 0 ? kRight : kLeft) && from.das < 15;
    int aside = 0;
    if (columns > 0) {
        aside = 2 * columns + held;
    } else if (columns < 0) {
        aside = held ? 1 - columns : 2 * ((1 - columns) / 2);
    }
    const int turns = (target.rotation - from.rotation) & 3;
    const int turning = turns == 0 ? 0 : turns == 2 ? 4 : 2;
    return std::max({down, aside, turning});
}

}  // namespace drmario
