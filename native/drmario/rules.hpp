// The rules of one game, frame by frame, as docs/drmario.md tells them.
#pragma once

#include "ram.hpp"

namespace drmario {

struct Seats {  // whose turn it is, and the other one
    Player &own;
    Player &other;
    Field &field;
    uint8_t pressed, held;
};

// --- game.cpp: the frame -----------------------------------------------------------------------------------------
// One NMI (rows drawn, frame count, pads) and one run of the handler of the mode.
void run_frame(Ram &ram, uint8_t pad_1, uint8_t pad_2);

// --- rounds.cpp: how rounds begin and end ------------------------------------------------------------------------
void new_game(Ram &ram, uint16_t seed, const uint8_t levels[2], const uint8_t speeds[2], uint8_t players);
void init_round(Ram &ram);
void viruses_appear(Ram &ram);
void after_clear(Ram &ram);
void topped_out(Ram &ram);
void end_screen(Ram &ram);

// --- falling.cpp: the capsule under control ----------------------------------------------------------------------
struct Position {
    uint8_t x, y, rotation;
    bool operator==(const Position &) const = default;
};

// Frames a capsule stays in a row, less one.
uint8_t gravity_threshold(const Player &player);
// Both cells of the capsule exactly $FF, and a horizontal one inside the columns.
bool is_free(const Field &field, const Position &at);
void fall(const Seats &seats, uint8_t frame_count);
// What a lock leaves in the field: the two halves (one above the bottle vanishes).
void write_halves(Field &field, const Position &at, const uint8_t colours[2]);

// --- settling.cpp: what happens to the field after a lock ----------------------------------------------------------
// One row down for all that can fall; true if anything did.
bool drop_pass(Field &field);
// What a line of four or more does beside turning its cells to $Bx: counters, attack colours, score.
// `score` is the six digits of a one-player game, else nullptr.
void match_rows(Field &field, Player &player, uint8_t *score);
void match_columns(Field &field, Player &player, uint8_t *score);
// Matched cells pop, halves without their partner become singles.
void update_cells(Field &field);
void settle(const Seats &seats, uint8_t *score);

// --- spawning.cpp: from one capsule to the next --------------------------------------------------------------------
// The actions 2 (attacks), 5 and 6 (throw, spawn).
void check_attacks(const Seats &seats, uint8_t frame_count, bool two_players);
void throw_capsule(Ram &ram, Player &player, Field &field);
void spawn(Player &player, Field &field, const uint8_t reserve[kReserve]);

}  // namespace drmario
