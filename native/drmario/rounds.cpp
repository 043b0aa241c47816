// How a round begins (capsules, viruses) and ends (clear, top-out, match).
#include <algorithm>
#include <cstring>

#include "rules.hpp"

namespace drmario {
namespace {

// The 16-bit shift register: the new top bit is bit 9 XOR bit 1.
void step_random(Ram &ram) {
    const unsigned state = static_cast<unsigned>(ram.random_high << 8 | ram.random_low);
    const unsigned bit = (state >> 9 ^ state >> 1) & 1;
    const unsigned next = state >> 1 | bit << 15;
    ram.random_high = static_cast<uint8_t>(next >> 8);
    ram.random_low = static_cast<uint8_t>(next);
}

void fill_reserve(Ram &ram) {
    unsigned id = 0;
    for (int i = kReserve - 1; i >= 0; --i) {
        step_random(ram);
        id = (id + (ram.random_high & 15)) % 9;
        ram.reserve[i] = static_cast<uint8_t>(id);
    }
}

uint8_t virus_count(uint8_t level) {
    return static_cast<uint8_t>(4 * (std::min<int>(level, 20) + 1));
}

// The highest row viruses may stand in, counted from the bottom.
uint8_t virus_height(uint8_t level) {
    return level < 15 ? 9 : level < 17 ? 10 : level < 19 ? 11 : 12;
}

// One attempt to place one virus; nothing happens if it finds no place. The cell it got, or kCells.
uint8_t place_virus(Ram &ram, int seat) {
    static constexpr uint8_t kColourOf[16] = {0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 1};
    Player &player = ram.player(seat);
    Field &field = ram.fields[seat];
    const uint8_t limit = virus_height(player.level);
    uint8_t height;
    do {
        step_random(ram);
        height = ram.random_high & 15;
    } while (height > limit);
    uint8_t cell = static_cast<uint8_t>((15 - height) * kColumns + (ram.random_low & 7));
    uint8_t colour = player.viruses_to_place & 3;
    if (colour == 3) {
        step_random(ram);
        colour = kColourOf[ram.random_low & 15];
    }
    for (;; ++cell) {
        if (cell >= kCells) return kCells;
        if (field[cell] != kEmpty) continue;
        const int column = cell % kColumns;
        const auto two_away = [&](int distance) {
            return 1u << (field[static_cast<uint8_t>(cell + distance)] & kColourBits);
        };
        unsigned near = two_away(-2 * kColumns) | two_away(2 * kColumns);  // bit 3: an empty cell's "colour"
        if (column >= 2) near |= two_away(-2);
        if (column <= 5) near |= two_away(2);
        if ((near & 7) == 7) continue;
        while (near >> colour & 1) colour = colour == 0 ? 2 : static_cast<uint8_t>(colour - 1);
        field[cell] = static_cast<uint8_t>(kVirus + colour);
        --player.viruses_to_place;
        player.viruses = bcd_plus_one(player.viruses);
        player.redraw_row = cell / kColumns;
        return cell;
    }
}

constexpr uint8_t letter(char c) {
    return static_cast<uint8_t>(c == ' ' ? 0xFE : c - 'A' + 0x0A);
}

// A framed notice in the middle of the bottle; each text has six letters.
void show_box(Field &field, const char *row_6, const char *row_7, const char *row_8) {
    std::memset(field.cells, kEmpty, kCells);
    const auto write = [&](int row, uint8_t left, const char *text, uint8_t inner, uint8_t right) {
        uint8_t *cells = field.cells + row * kColumns;
        cells[0] = left;
        for (int i = 0; i < 6; ++i) cells[1 + i] = text ? letter(text[i]) : inner;
        cells[7] = right;
    };
    write(4, 0xED, nullptr, 0xEE, 0xEF);
    for (int row = 5; row <= 9; ++row) {
        write(row, 0x8B, row == 6 ? row_6 : row == 7 ? row_7 : row == 8 ? row_8 : "      ", 0, 0x8C);
    }
    write(10, 0x8D, nullptr, 0x8E, 0x8F);
}

void show_result(Ram &ram) {
    const bool clear[2] = {ram.player(0).viruses == 0, ram.two_players() && ram.player(1).viruses == 0};
    const bool draw = clear[0] && clear[1];
    for (int seat = 0; seat < 2; ++seat) {
        if (!clear[seat]) continue;
        if (draw) {
            show_box(ram.fields[seat], "      ", " DRAW ", "      ");
        } else {
            show_box(ram.fields[seat], "STAGE ", "      ", "CLEAR ");
        }
        ram.player(seat).redraw_row = kRows - 1;
    }
    ram.round_winner = draw ? 0 : clear[0] ? 1 : 2;
}

// One-player games show a little scene after every fifth level (on LOW only after the 20th).
bool has_interlude(uint8_t level, uint8_t speed) {
    return level == 20 || (speed != kLow && (level == 5 || level == 10 || level == 15));
}

}  // namespace

void new_game(Ram &ram, uint16_t seed, const uint8_t levels[2], const uint8_t speeds[2], uint8_t players) {
    std::memset(static_cast<void *>(&ram), 0, sizeof ram);
    for (Field &field : ram.fields) std::memset(field.cells, kEmpty, sizeof field.cells);
    ram.random_high = static_cast<uint8_t>(seed >> 8);
    ram.random_low = static_cast<uint8_t>(seed);
    ram.wins_needed = 3;
    ram.players = players;
    for (int seat = 0; seat < 2; ++seat) {
        ram.player(seat).level = levels[seat];
        ram.player(seat).speed = speeds[seat];
    }
    ram.mode = kInitRound;
}

// Both players begin as copies of the one that acted last, so its auto shift counter and attack colours live on.
void init_round(Ram &ram) {
    fill_reserve(ram);
    const Player source = ram.player(ram.two_players() ? 1 : 0);
    for (int seat = 0; seat < 2; ++seat) {
        Player &player = ram.player(seat);
        const Player before = player;
        player = Player{};
        player.speed = before.speed;
        player.level = before.level;
        player.wins = before.wins;
        player.das = source.das;
        std::copy_n(source.attack_colours, 4, player.attack_colours);
        player.redraw_row = kNoRow;
        player.colours[0] = ram.reserve[0] / 3;
        player.colours[1] = ram.reserve[0] % 3;
        player.next[0] = ram.reserve[1] / 3;
        player.next[1] = ram.reserve[1] % 3;
        player.reserve_index = 2;
        player.x = 3;
        player.y = kRows - 1;
        player.capsules[0] = 1;
        player.action = kThrow;
        player.size = player.next_size = 2;
        player.viruses_to_place = virus_count(player.level);
        std::memset(ram.fields[seat].cells, kEmpty, kCells);
    }
    ram.round_winner = ram.who_failed = ram.wait = ram.phase = ram.throw_index = 0;
    ram.mode = kVirusesAppear;
}

void viruses_appear(Ram &ram) {
    Player &first = ram.player(0), &second = ram.player(1);
    const bool two = ram.two_players();
    if (first.viruses_to_place || (two && second.viruses_to_place)) {
        uint8_t cell = kCells;
        if (first.viruses_to_place) cell = place_virus(ram, 0);
        if (first.level == second.level) {
            if (cell < kCells) ram.fields[1][cell] = ram.fields[0][cell];
            second.viruses = first.viruses;
            second.viruses_to_place = first.viruses_to_place;
            second.redraw_row = first.redraw_row;
        } else if (two && second.viruses_to_place) {
            place_virus(ram, 1);
        }
        return;
    }
    constexpr uint8_t kFramesUntilPlay = 129;
    if (ram.wait == 0) {
        ram.wait = kFramesUntilPlay;
    } else if (--ram.wait == 0) {
        ram.mode = kPlay;
    }
}

// The phases that follow the last virus; nobody acts any more.
void after_clear(Ram &ram) {
    constexpr uint8_t kPause = 16;
    switch (ram.phase) {
        case kCleared:
            if (--ram.wait) return;
            show_result(ram);
            ram.wait = kPause;
            ram.phase = kBoxShown;
            return;
        case kBoxShown:
            if (--ram.wait) return;
            ram.wait = kPause;
            ram.phase = kBoxStays;
            return;
        case kBoxStays:
            if (--ram.wait == 0) ram.phase = kAwaitStart;
            return;
        case kAwaitStart:
            if (!(ram.held[0] & kStart)) return;  // pressed implies held
            ram.wait = kPause;
            ram.phase = kLeaving;
            return;
        case kLeaving: {
            if (--ram.wait) return;
            Player &player = ram.player(0);
            if (!ram.two_players()) {
                const uint8_t cleared = player.level;
                if (player.level < 24) ++player.level;
                if (has_interlude(cleared, player.speed)) {
                    ram.phase = kInterlude;
                    return;
                }
            }
            break;
        }
        case kInterlude:
            if (!(ram.pressed[0] & kStart)) return;
            break;
        default: return;
    }
    ram.phase = kPlaying;
    ram.mode = kInitRound;
}

void topped_out(Ram &ram) {
    const bool two = ram.two_players();
    const bool failed[2] = {ram.player(0).failed != 0, two && ram.player(1).failed != 0};
    ram.who_failed = failed[0] == failed[1] ? 0 : failed[0] ? 1 : 2;
    if (two && failed[0] != failed[1]) ++ram.player(failed[0] ? 1 : 0).wins;
    ram.wait = 0;
    ram.phase = kPlaying;
    ram.mode = kEndScreen;
}

// $51 counts its frames; START (alone, newly pressed) leaves it, but not at once.
void end_screen(Ram &ram) {
    if (ram.phase != kPlaying) {  // accepted, on the way to the next round
        if (--ram.wait) return;
        ram.phase = kPlaying;
        ram.mode = kInitRound;
        return;
    }
    if (ram.wait < 255) ++ram.wait;
    const bool two = ram.two_players();
    const int champion = ram.player(0).wins == ram.wins_needed ? 1 : ram.player(1).wins == ram.wins_needed ? 2 : 0;
    if (ram.wait == 1) {
        if (!two) ram.round_winner = 2;
        if (two && champion) ram.round_winner = static_cast<uint8_t>(champion);
    }
    const int first_start = !two ? 194 : champion ? 193 : 82;
    if (ram.pressed[0] != kStart || ram.held[0] != kStart || ram.wait < first_start) return;
    if (!two || champion) {
        ram.mode = kMatchOver;
    } else {
        ram.phase = 1;
        ram.wait = 17;
    }
}

}  // namespace drmario
