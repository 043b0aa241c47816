// The state of a game is the console's 2 KB of RAM, with a name for every byte that counts.
//
// Offsets and meanings are those of docs/drmario.md. Bytes without a name are never read by the rules, so a game can be
// taken over from a console and handed back to one. Field row 0 is the top one; a player's y counts from the bottom.
#pragma once

#include <cstddef>
#include <cstdint>

namespace drmario {

enum Button : uint8_t { kRight = 0x01, kLeft = 0x02, kDown = 0x04, kUp = 0x08, kStart = 0x10, kB = 0x40, kA = 0x80 };
constexpr uint8_t kDirections = 0x0F;

enum Mode : uint8_t {
    kMatchOver = 1,  // the options screen of the cartridge: nothing moves any more
    kInitRound = 3,
    kPlay = 4,
    kToppedOut = 5,
    kEndScreen = 7,
    kVirusesAppear = 8
};

// What a player is at, byte $17 of its block.
enum Action : uint8_t {
    kFalling = 0,  // the only one that listens to the pad
    kSettling = 1,
    kAttackCheck = 2,
    kSpawned = 3,
    kIdle = 4,
    kPass = 5,
    kThrow = 6
};

// After a cleared bottle mode 4 goes on through these (byte $59).
enum Phase : uint8_t {
    kPlaying = 0,
    kCleared = 1,
    kBoxShown = 2,
    kBoxStays = 3,
    kAwaitStart = 4,
    kLeaving = 5,
    kInterlude = 6
};

enum Speed : uint8_t { kLow = 0, kMedium = 1, kHigh = 2 };

// Field cells: the type is the high nibble, the colour (0 yellow, 1 red, 2 blue) the low one.
enum Cell : uint8_t {
    kTop = 0x40,
    kBottom = 0x50,
    kLeftHalf = 0x60,
    kRightHalf = 0x70,
    kSingle = 0x80,
    kMatched = 0xB0,
    kVirus = 0xD0,
    kPop = 0xF0,  // and above: nothing is there any more
    kEmpty = 0xFF
};
constexpr uint8_t kTypeBits = 0xF0;
constexpr uint8_t kColourBits = 0x03;

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kCells = kRows * kColumns;
constexpr int kReserve = 128;
constexpr uint8_t kNoRow = 0xFF;
constexpr uint8_t kPaused = 5;
constexpr uint8_t kMostSpeedUps = 49;

struct Player {
    uint8_t redraw_row;           // 00: the field row drawn next, then the one above it; $FF none. It gates settling
    uint8_t colours[2];           // 01: of the falling capsule, 1st and 2nd half
    uint8_t unused_colours[2];    // 03
    uint8_t x;                    // 05: left half, or the column of a vertical capsule
    uint8_t y;                    // 06: 15 top row, 0 bottom row; the bottom half of a vertical capsule
    uint8_t settle_step;          // 07: 0..8
    uint8_t unused_08;            //
    uint8_t failed;               // 09: topped out
    uint8_t speed_ups;            // 0A: 0..49
    uint8_t speed;                // 0B: Speed
    uint8_t unused_0c[2];         //
    uint8_t last_line;            // 0E: length-1 of the last line matched
    uint8_t combo;                // 0F: lines matched since the capsule locked
    uint8_t capsules[2];          // 10: BCD, low digits first; 1 at the start of a round
    uint8_t gravity;              // 12: counts up; a row when it exceeds the table value
    uint8_t das;                  // 13: delayed auto shift, frames a direction has been held
    uint8_t lines;                // 14: lines matched in this pass
    uint8_t last_line_row;        // 15: where the last line started
    uint8_t level;                // 16: 0..24
    uint8_t action;               // 17: Action
    uint8_t attack;               // 18: pieces waiting to be delivered to the OTHER player
    uint8_t unused_19;            //
    uint8_t next[2];              // 1A: colours of the next capsule
    uint8_t unused_1c[2];         //
    uint8_t wins;                 // 1E: rounds won in this match
    uint8_t unused_1f;            //
    uint8_t speed_ups_looked_up;  // 20: copy made for the gravity table
    uint8_t cells_matched;        // 21: in this settling
    uint8_t throw_rotation;       // 22: of the thrown preview
    uint8_t next_size;            // 23: always 2
    uint8_t viruses;              // 24: left, BCD
    uint8_t rotation;             // 25: 0..3
    uint8_t size;                 // 26: always 2
    uint8_t reserve_index;        // 27: of the capsule after next
    uint8_t viruses_to_place;     // 28: while they appear
    uint8_t attack_colours[4];    // 29
    uint8_t score_step;           // 2D: viruses removed in this settling, index of the score multiplier
    uint8_t unused_2e[2];         //
};
static_assert(sizeof(Player) == 0x30);
static_assert(offsetof(Player, action) == 0x17 && offsetof(Player, viruses) == 0x24);

// A field of 16 rows, and the space above and below it: the rest of its page always reads as empty, and indices are
// 8 bits wide, so that no index leaves it.
struct Field {
    uint8_t cells[256];

    uint8_t &operator[](uint8_t index) { return cells[index]; }
    uint8_t operator[](uint8_t index) const { return cells[index]; }
};

struct Ram {
    uint8_t zero_page_00[0x17];
    uint8_t random_high, random_low;  // $17
    uint8_t zero_page_19[0x43 - 0x19];
    uint8_t frame_count;  // $43 fc, +1 in every frame
    uint8_t zero_page_44[0x46 - 0x44];
    uint8_t mode;  // $46
    uint8_t zero_page_47[0x51 - 0x47];
    uint8_t wait;  // $51
    uint8_t zero_page_52[0x55 - 0x52];
    uint8_t round_winner;  // $55: 0 none, 1, 2
    uint8_t zero_page_56[0x59 - 0x56];
    uint8_t phase;  // $59
    uint8_t zero_page_5a[0x61 - 0x5A];
    uint8_t who_failed;  // $61: 0 nobody or both, 1, 2
    uint8_t zero_page_62[0x7D - 0x62];
    uint8_t throw_index;  // $7D: steps of the throw animation (1P)
    uint8_t zero_page_7e[0xF5 - 0x7E];
    uint8_t pressed[2];  // $F5: newly, by player
    uint8_t held[2];     // $F7
    uint8_t page_0_f9[0x300 - 0xF9];
    struct {
        Player player;
        uint8_t unused[0x80 - sizeof(Player)];
    } blocks[2];      // $0300, $0380
    Field fields[2];  // $0400, $0500
    uint8_t page_6[0x8D];
    uint8_t paused;  // $068D
    uint8_t page_6_8e[0x725 - 0x68E];
    uint8_t wins_needed;  // $0725
    uint8_t page_7_26;
    uint8_t players;  // $0727
    uint8_t page_7_28;
    uint8_t score[6];  // $0729: decimal digits, lowest first
    uint8_t page_7_2f[0x741 - 0x72F];
    uint8_t demo;  // $0741
    uint8_t page_7_42[0x780 - 0x742];
    uint8_t reserve[kReserve];  // $0780: capsule ids 0..8, shared by both players

    Player &player(int seat) { return blocks[seat].player; }
    const Player &player(int seat) const { return blocks[seat].player; }
    bool two_players() const { return players == 2; }
};
constexpr size_t kRamSize = 0x800;
static_assert(sizeof(Ram) == kRamSize);
static_assert(offsetof(Ram, mode) == 0x46 && offsetof(Ram, throw_index) == 0x7D && offsetof(Ram, held) == 0xF7);
static_assert(offsetof(Ram, blocks) == 0x300 && offsetof(Ram, fields) == 0x400 && offsetof(Ram, paused) == 0x68D);
static_assert(offsetof(Ram, score) == 0x729 && offsetof(Ram, demo) == 0x741 && offsetof(Ram, reserve) == 0x780);

// Numbers of two decimal digits in one byte, modulo 100.
inline uint8_t bcd_plus_one(uint8_t n) {
    if (n >= 0x99) return 0;
    return static_cast<uint8_t>((n & 0x0F) < 9 ? n + 1 : (n & 0xF0) + 0x10);
}
inline uint8_t bcd_minus_one(uint8_t n) {
    if (n == 0) return 0x99;
    return static_cast<uint8_t>((n & 0x0F) > 0 ? n - 1 : n - 0x10 + 0x09);
}

}  // namespace drmario
