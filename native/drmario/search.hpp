// Choosing a placement: every one for the capsule, or every pair with the next capsule, by what the field is worth
// afterwards.
#pragma once

#include <vector>

#include "evaluation.hpp"
#include "turns.hpp"

namespace drmario {

// The worth of a move that clears the bottle, and of one after which the next capsule finds its way in blocked (half of
// that if it takes the next capsule, too). No weighted sum comes near them.
constexpr float kClearedWorth = 1e9f;
constexpr float kLostWorth = -1e9f;

// What a settling did to a field.
struct Settling {
    int passes = 0;  // drop passes in which something moved
    int links = 0;   // times that lines popped
    int lines = 0;
    int cells = 0;  // matched; where lines cross, as often as the game counts it
};

// Drops, matches and pops until nothing moves, as settling does in its many frames.
Settling settle_at_once(Field &field);

// A placement and what it leads to: the best that can be had with it, looking one or two capsules ahead.
struct Rating {
    PlacementId id;
    float value;
};

// Rates the placements of the capsule at its decision point, leaving out those that look like another. `plies` is 1, or
// 2 to look at the next capsule, too.
void rate_placements(const Ram &ram, int seat, int plies, const Weights &weights, std::vector<Rating> &out);

// The best of them (the first, if several are).
PlacementId best_placement(const Ram &ram, int seat, int plies, const Weights &weights);

// Plays on until the round has ended, or until some player has placed so many capsules. `capsules` counts them for both
// players. Everything happens frame by frame as in the game itself.
void play_round(Ram &ram, int plies, const Weights &weights, int most_capsules, int32_t capsules[2]);

}  // namespace drmario
