// From decision to decision: a placement's script is played and everything after it, until somebody must choose again.
#pragma once

#include "placements.hpp"
#include "tally.hpp"

namespace drmario {

// The rest of a script under way.
struct Plan {
    Script script;
    int next = 0;

    bool active() const { return next < script.length; }
    uint8_t take() { return active() ? script.pads[static_cast<size_t>(next++)] : 0; }
    void clear() { next = script.length = 0; }
};

enum : uint8_t { kFirstWaits = 1, kSecondWaits = 2 };

// Which seats stand at a decision; 0 if none does.
uint8_t seats_waiting(const Ram &ram);

// Passes over frames in which nothing but counters changes when no pad is touched; how many they were.
int skip_idle_frames(Ram &ram);

// Plays the plans, and nothing else on the pads, until one of the `deciders` stands at a decision (returned, see above)
// or the round has ended (0). Exactly as if run_frame() had been called for every frame. `stuck` is set if neither
// happens, which bytes from somewhere else can bring about.
uint8_t play_to_decision(Ram &ram, Plan *plans[2], bool &stuck, uint8_t deciders = kFirstWaits | kSecondWaits,
                         Tally *tally = nullptr);

}  // namespace drmario
