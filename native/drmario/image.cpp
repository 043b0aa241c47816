#include "image.hpp"

#include <cstdio>
#include <cstring>

namespace drmario {
namespace {

[[noreturn]] void refuse(const std::string &why) {
    throw StateError("not a game's RAM: " + why);
}

void require(bool plausible, const char *what, int address, int value) {
    if (plausible) return;
    char text[80];
    std::snprintf(text, sizeof text, "%s at $%04X is $%02X", what, static_cast<unsigned>(address),
                  static_cast<unsigned>(value));
    refuse(text);
}

bool is_bcd(uint8_t n) {
    return (n & 0x0F) <= 9 && n <= 0x99;
}

bool is_piece(uint8_t cell) {
    switch (cell & kTypeBits) {
        case kTop:
        case kBottom:
        case kLeftHalf:
        case kRightHalf:
        case kSingle:
        case kMatched:
        case kVirus:
        case kPop: return (cell & ~kTypeBits) <= 2 || cell == kEmpty;
        default: return false;
    }
}

bool is_box(uint8_t cell) {
    return (cell >= 0x0A && cell <= 0x23) || (cell >= 0x8B && cell <= 0x8F) || (cell >= 0xED && cell <= 0xEF) ||
           cell == 0xFE;
}

void check_player(const Player &player, int address) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&player);
    const auto at_most = [&](int offset, int most, const char *what) {
        require(bytes[offset] <= most, what, address + offset, bytes[offset]);
    };
    const auto bcd = [&](int offset, const char *what) {
        require(is_bcd(bytes[offset]), what, address + offset, bytes[offset]);
    };
    require(player.redraw_row < kRows || player.redraw_row == kNoRow, "redraw row", address, player.redraw_row);
    at_most(0x01, 2, "capsule colour");
    at_most(0x02, 2, "capsule colour");
    at_most(0x05, kColumns - 1, "x");
    at_most(0x06, kRows - 1, "y");
    at_most(0x07, 8, "settle step");
    at_most(0x09, 1, "failed flag");
    at_most(0x0A, kMostSpeedUps, "speed-ups");
    at_most(0x0B, kHigh, "speed");
    bcd(0x10, "capsule counter");
    bcd(0x11, "capsule counter");
    at_most(0x12, 69, "gravity counter");
    at_most(0x13, 15, "auto shift counter");
    at_most(0x16, 24, "level");
    at_most(0x17, kThrow, "action");
    at_most(0x1A, 2, "next colour");
    at_most(0x1B, 2, "next colour");
    at_most(0x22, 3, "throw rotation");
    bcd(0x24, "virus count");
    at_most(0x25, 3, "rotation");
    at_most(0x27, kReserve - 1, "reserve index");
    at_most(0x28, 84, "viruses to place");
    for (int i = 0; i < 4; ++i) at_most(0x29 + i, 2, "attack colour");
}

void check_field(const Field &field, int address, bool boxes) {
    for (int i = 0; i < 256; ++i) {
        const uint8_t cell = field.cells[i];
        const bool fits = i < kCells ? is_piece(cell) || (boxes && is_box(cell)) : cell == kEmpty;
        require(fits, "field cell", address + i, cell);
    }
}

}  // namespace

void check_state(const Ram &ram) {
    switch (ram.mode) {
        case kMatchOver:
        case kInitRound:
        case kPlay:
        case kToppedOut:
        case kEndScreen:
        case kVirusesAppear: break;
        default: require(false, "mode (a menu?)", 0x46, ram.mode);
    }
    require(ram.players == 1 || ram.players == 2, "number of players", 0x727, ram.players);
    require(ram.demo == 0, "flag of the attract mode", 0x741, ram.demo);
    require(ram.paused == 0 || ram.paused == kPaused, "pause flag", 0x68D, ram.paused);
    require(ram.random_high > 0 || ram.random_low > 1, "random state", 0x18, ram.random_low);
    require(ram.round_winner <= 2, "winner", 0x55, ram.round_winner);
    require(ram.who_failed <= 2, "who failed", 0x61, ram.who_failed);
    require(ram.throw_index < 22, "throw animation", 0x7D, ram.throw_index);
    require(ram.wins_needed > 0, "wins needed", 0x725, ram.wins_needed);
    const int last_phase = ram.mode == kPlay ? kInterlude : ram.mode == kEndScreen ? 1 : 0;
    require(ram.phase <= last_phase, "phase", 0x59, ram.phase);
    for (int i = 0; i < 6; ++i) require(ram.score[i] <= 9, "score digit", 0x729 + i, ram.score[i]);
    for (int i = 0; i < kReserve; ++i) require(ram.reserve[i] <= 8, "capsule", 0x780 + i, ram.reserve[i]);
    // The notice about a cleared stage stands in the field until the next round is set up.
    const bool boxes = ram.mode == kInitRound || (ram.mode == kPlay && ram.phase >= kBoxShown);
    for (int seat = 0; seat < 2; ++seat) {
        check_player(ram.player(seat), 0x300 + 0x80 * seat);
        check_field(ram.fields[seat], 0x400 + 0x100 * seat, boxes);
    }
}

Ram from_console(const uint8_t console_ram[kRamSize]) {
    uint8_t game[kRamSize] = {};
    for (const auto &[first, last] : kImage) {
        std::memcpy(game + first, console_ram + first, static_cast<size_t>(last - first + 1));
    }
    Ram ram;
    std::memcpy(&ram, game, sizeof ram);
    if (ram.mode == kMatchOver) refuse("the console shows a menu; wait until a round begins");
    check_state(ram);
    return ram;
}

}  // namespace drmario
