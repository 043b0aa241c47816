#include "turns.hpp"

#include <algorithm>

namespace drmario {
namespace {

constexpr int kThrowSteps = 22;

// Frames until this player does something, beyond counting.
int idle_frames(const Ram &ram, const Player &player) {
    if (player.action == kSettling && player.settle_step == 3) {
        return player.redraw_row == kNoRow ? 0 : player.redraw_row;
    }
    if (player.action == kThrow && !ram.two_players() && ram.throw_index < kThrowSteps) {
        const int steps = kThrowSteps - ram.throw_index;
        if (player.speed != kLow) return steps - 1;
        const bool next_is_odd = !(ram.frame_count & 1);
        return 2 * steps - (next_is_odd ? 2 : 1);
    }
    return 0;
}

void count_rows(Player &player, int frames) {
    if (player.redraw_row == kNoRow) return;
    player.redraw_row = static_cast<uint8_t>(std::max(player.redraw_row - frames, -1));
}

}  // namespace

uint8_t seats_waiting(const Ram &ram) {
    return static_cast<uint8_t>((at_decision(ram, 0) ? kFirstWaits : 0) | (at_decision(ram, 1) ? kSecondWaits : 0));
}

int skip_idle_frames(Ram &ram) {
    if (ram.paused == kPaused) return 0;
    const bool two = ram.two_players();
    int frames = 0;
    if (ram.mode == kVirusesAppear) {
        const bool placing = ram.player(0).viruses_to_place || (two && ram.player(1).viruses_to_place);
        if (placing || ram.wait < 2) return 0;
        frames = ram.wait - 1;
        ram.wait = 1;
    } else if (ram.mode == kPlay && ram.phase == kPlaying) {
        frames = idle_frames(ram, ram.player(0));
        if (two) frames = std::min(frames, idle_frames(ram, ram.player(1)));
        if (frames == 0) return 0;
        if (ram.player(0).action == kThrow && !two) {
            ram.throw_index = kThrowSteps - 1;
            ram.player(0).throw_rotation = ram.throw_index & 3;
        }
    } else {
        return 0;
    }
    count_rows(ram.player(0), frames);
    if (two) count_rows(ram.player(1), frames);
    ram.frame_count = static_cast<uint8_t>(ram.frame_count + frames);
    std::fill_n(ram.pressed, 2, 0);
    std::fill_n(ram.held, 2, 0);
    return frames;
}

uint8_t play_to_decision(Ram &ram, Plan *plans[2], bool &stuck, uint8_t deciders, Tally *tally) {
    // The longest chain takes some thousand frames.
    constexpr int kLongest = 100000;
    stuck = false;
    for (int frames = 1; frames < kLongest; ++frames) {
        if (!plans[0]->active() && !plans[1]->active()) frames += skip_idle_frames(ram);
        const uint8_t first = plans[0]->take(), second = plans[1]->take();
        run_frame(ram, first, second);
        if (tally) {
            tally->look(ram);
            tally->frames = frames;
        }
        if (ram.mode != kPlay || ram.phase != kPlaying) {
            plans[0]->clear();
            plans[1]->clear();
            return 0;
        }
        const uint8_t waiting = seats_waiting(ram) & deciders;
        if (waiting) return waiting;
    }
    stuck = true;
    return 0;
}

}  // namespace drmario
