// What both players do in a round, from counters in RAM that the game itself zeroes again.
//
// environment/drmario/tally.py counts the same on consoles, between looks; here every frame that matters is looked at.
#pragma once

#include <algorithm>

#include "ram.hpp"

namespace drmario {

class Tally {
  public:
    // In the order of Tally.totals in Python.
    enum Count { kViruses, kPieces, kLines, kLinks, kSent, kReceived, kLocks, kCounts };

    explicit Tally(const Ram &ram) : before_{counters(ram, 0), counters(ram, 1)} {}

    // Call it after every frame but those in which only waiting goes on.
    void look(const Ram &ram) {
        for (int seat = 0; seat < (ram.two_players() ? 2 : 1); ++seat) look(ram, seat);
    }

    int32_t frames = 0;
    int32_t totals[kCounts][2] = {};  // by seat

  private:
    struct Counters {
        int viruses, cells, combo, attack, locks;
    };

    static int decimal(uint8_t bcd) { return 10 * (bcd >> 4) + (bcd & 15); }

    static Counters counters(const Ram &ram, int seat) {
        const Player &player = ram.player(seat);
        const bool in_the_air = player.action == kFalling || player.action == kSpawned;
        const int thrown = 100 * decimal(player.capsules[1]) + decimal(player.capsules[0]);
        return {decimal(player.viruses), player.cells_matched, player.combo, player.attack, thrown - in_the_air};
    }

    void look(const Ram &ram, int seat) {
        const Counters now = counters(ram, seat), was = before_[seat];
        const int cleared = std::max(was.viruses - now.viruses, 0);
        const int matched = now.cells >= was.cells ? now.cells - was.cells : now.cells;
        totals[kViruses][seat] += cleared;
        totals[kPieces][seat] += std::max(matched - cleared, 0);
        const bool anew = now.combo < was.combo;
        const int start = anew ? 0 : was.combo;
        totals[kLines][seat] += now.combo - start;
        totals[kLinks][seat] += std::max(now.combo - 1, 0) - std::max(start - 1, 0);
        // A combo of two and more is zeroed when it becomes an attack.
        const int sent = anew && was.combo >= 2 && ram.two_players() ? was.combo : 0;
        const int delivered = was.attack + sent - now.attack;
        constexpr int kMostGarbage = 4;
        totals[kSent][seat] += sent;
        if (delivered >= 2) totals[kReceived][1 - seat] += std::min(delivered, kMostGarbage);
        totals[kLocks][seat] += now.locks - was.locks;
        before_[seat] = now;
    }

    Counters before_[2];
};

}  // namespace drmario
