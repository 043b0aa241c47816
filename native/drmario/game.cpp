// One frame: what the NMI does, then the handler of the mode.
#include "rules.hpp"

namespace drmario {
namespace {

void draw_row(Player &player) {
    if (player.redraw_row != kNoRow) --player.redraw_row;
}

void read_pad(Ram &ram, int seat, uint8_t pad) {
    ram.pressed[seat] = static_cast<uint8_t>(pad & ~ram.held[seat]);
    ram.held[seat] = pad;
}

void act(Ram &ram, int seat) {
    Player &player = ram.player(seat);
    Field &field = ram.fields[seat];
    const Seats seats{player, ram.player(1 - seat), field, ram.pressed[seat], ram.held[seat]};
    switch (player.action) {
        case kFalling: fall(seats, ram.frame_count); break;
        case kSettling: settle(seats, ram.two_players() ? nullptr : ram.score); break;
        case kAttackCheck: check_attacks(seats, ram.frame_count, ram.two_players()); break;
        case kSpawned: player.action = kFalling; break;
        case kPass: player.action = kThrow; break;
        case kThrow: throw_capsule(ram, player, field); break;
        default: break;
    }
}

// In two-player games a player with enough wins ends the match before anything else happens.
bool match_won(Ram &ram, int seat) {
    if (!ram.two_players() || ram.player(seat).wins != ram.wins_needed) return false;
    ram.phase = kPlaying;
    ram.wait = 0;
    ram.mode = kEndScreen;
    return true;
}

void play(Ram &ram) {
    if (ram.phase != kPlaying) {
        after_clear(ram);
        return;
    }
    const bool two = ram.two_players();
    act(ram, 0);
    if (match_won(ram, 0)) return;
    if (two) {
        act(ram, 1);
        if (match_won(ram, 1)) return;
    }
    constexpr uint8_t kFramesUntilBox = 64;
    if (ram.player(0).viruses == 0 || (two && ram.player(1).viruses == 0)) {
        ram.phase = kCleared;
        ram.wait = kFramesUntilBox;
    } else if (ram.player(0).failed || (two && ram.player(1).failed)) {
        ram.mode = kToppedOut;
    }
}

}  // namespace

void run_frame(Ram &ram, uint8_t pad_1, uint8_t pad_2) {
    draw_row(ram.player(0));
    if (ram.two_players()) draw_row(ram.player(1));
    ++ram.frame_count;
    read_pad(ram, 0, pad_1);
    read_pad(ram, 1, pad_2);
    const bool start = ram.pressed[0] & kStart;

    if (ram.paused == kPaused) {
        if (start) ram.paused = 0;
        return;
    }
    const uint8_t mode = ram.mode;
    switch (mode) {
        case kInitRound: init_round(ram); break;
        case kVirusesAppear: viruses_appear(ram); break;
        case kPlay: play(ram); break;
        case kToppedOut: topped_out(ram); break;
        case kEndScreen: end_screen(ram); break;
        default: break;
    }
    const bool playing = mode == kPlay && ram.mode == kPlay && ram.phase == kPlaying;
    if (playing && start && !ram.demo) ram.paused = kPaused;
}

}  // namespace drmario
