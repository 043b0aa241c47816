// Where the capsule at its spawn can come to lie, and how.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reach.hpp"

namespace drmario {

// A final position is numbered rotation * 128 + y * 8 + x.
using PlacementId = int16_t;
constexpr int kPlacementIds = 4 * kRows * kColumns;
// Landings of one column (or pair) are at least two (or three) rows apart: 2 * 7 * 8 + 2 * 8 * 6.
constexpr int kMostPlacements = 208;

inline PlacementId placement_id(const Position &at) {
    return static_cast<PlacementId>(at.rotation * 128 + at.y * 8 + at.x);
}
inline Position placement_position(PlacementId id) {
    return {static_cast<uint8_t>(id & 7), static_cast<uint8_t>(id >> 3 & 15), static_cast<uint8_t>(id >> 7)};
}

// The end of the frame in which a new capsule comes under control: the next frame is the first that moves it.
inline bool at_decision(const Ram &ram, int seat) {
    const Player &player = ram.player(seat);
    return ram.mode == kPlay && ram.phase == kPlaying && ram.paused == 0 && player.action == kFalling &&
           player.y == kRows - 1 && player.x == 3 && player.rotation == 0 && player.gravity == 0 &&
           (seat == 0 || ram.two_players());
}

struct Placements {
    std::array<PlacementId, kMostPlacements> ids;
    std::array<bool, kMostPlacements> tucked;  // something lies above: not reached by a straight drop
    int count = 0;

    // With two halves of one colour the opposite rotation looks the same: the lowest id with the same result.
    PlacementId canonical(int i, bool one_colour) const;
};

// What governs a falling capsule besides the field.
struct Descent {
    int threshold;        // gravity: a row takes threshold + 1 frames
    uint8_t held;         // pad in the frame before
    uint8_t das;          // auto shift counter
    bool next_frame_odd;  // frame counter of the first frame under control

    Descent(const Ram &ram, int seat)
        : threshold(gravity_threshold(ram.player(seat))),
          held(ram.held[seat]),
          das(ram.player(seat).das),
          next_frame_odd(!(ram.frame_count & 1)) {}
};

// Every position in which the capsule at its decision point can lock, from the top row down.
//
// Soft drop (DOWN) never adds one: a capsule that is dropped early could as well have waited, everything released, and
// would have had the same choices in the frame of the natural drop. So only natural gravity is followed, by which all
// possible capsules are in the same row at the same time.
void find_placements(const Room &room, const Descent &descent, Placements &out);
// The same by following every frame and held button; slower. find_placements falls back on it when gravity is too fast
// for simpler reasoning.
void find_placements_exactly(const Room &room, const Descent &descent, Positions locks[kRows]);

// A shortest sequence of pads that takes the capsule from its decision point to its lock at the target, one byte a
// frame, the last one that of the lock. Opposite directions are never pressed together. False if there is none.
constexpr int kMostFrames = 512;  // with soft drop a row takes two frames and its moves; the longest maze needs less
struct Script {
    std::array<uint8_t, kMostFrames> pads;
    int length = 0;
};
bool find_script(const Room &room, const Descent &descent, const Position &target, Script &out);

}  // namespace drmario
