// The capsule under control: vertical, then horizontal, then rotation, in every frame.
#include <algorithm>

#include "rules.hpp"

namespace drmario {
namespace {

constexpr int kSlowest = 81;
// Frames in a row, less one, by index: LOW begins at 15, MED at 25, HI at 31; every speed-up is one further.
constexpr uint8_t kGravity[kSlowest] = {69, 67, 65, 63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41,  // never used
                                        39, 37, 35, 33, 31, 29, 27, 25, 23, 21,                      // 15
                                        19, 18, 17, 16, 15, 14,                                      // 25
                                        13, 12, 11, 10, 9,  9,  8,  8,  7,  7,  6,  6,               // 31
                                        5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,               // 43
                                        4,  4,  4,  4,  4,                                           // 55
                                        3,  3,  3,  3,  3,                                           // 60
                                        2,  2,  2,  2,  2,                                           // 65
                                        1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  0};                  // 70

Position position(const Player &player) {
    return {player.x, player.y, player.rotation};
}

uint8_t base_cell(const Position &at) {
    return static_cast<uint8_t>((kRows - 1 - at.y) * kColumns + at.x);
}

uint8_t second_cell(const Position &at) {
    return static_cast<uint8_t>(base_cell(at) + (at.rotation & 1 ? -kColumns : 1));
}

void lock(const Seats &seats) {
    Player &player = seats.own;
    write_halves(seats.field, position(player), player.colours);
    player.redraw_row = static_cast<uint8_t>(kRows - 1 - player.y);
    player.action = kSettling;
    player.settle_step = 0;
}

void drop_row(const Seats &seats) {
    Player &player = seats.own;
    player.gravity = 0;
    Position below = position(player);
    --below.y;
    if (player.y > 0 && is_free(seats.field, below)) {
        player.y = below.y;
    } else {
        lock(seats);
    }
}

void move_down(const Seats &seats, uint8_t frame_count) {
    Player &player = seats.own;
    if ((frame_count & 1) && (seats.held & kDirections) == kDown) {
        drop_row(seats);
        return;
    }
    const uint8_t threshold = gravity_threshold(player);
    player.speed_ups_looked_up = player.speed_ups;
    if (++player.gravity > threshold) drop_row(seats);
}

// One column to the side. Blocked by a piece, the counter waits one frame before its next attempt.
void shift(const Seats &seats, int direction) {
    Player &player = seats.own;
    Position aside = position(player);
    aside.x = static_cast<uint8_t>(aside.x + direction);
    if (is_free(seats.field, aside)) {
        player.x = aside.x;
    } else {
        player.das = 15;
    }
}

void move_sideways(const Seats &seats) {
    Player &player = seats.own;
    if (seats.pressed & (kLeft | kRight)) {
        player.das = 0;
    } else if (seats.held & (kLeft | kRight)) {
        if (++player.das < 16) return;
        player.das = 10;
    } else {
        return;
    }
    const uint8_t rightmost = player.rotation & 1 ? kColumns - 1 : kColumns - 2;
    if ((seats.held & kRight) && player.x < rightmost) shift(seats, +1);
    if ((seats.held & kLeft) && player.x > 0) shift(seats, -1);
}

void rotate(const Seats &seats, int direction) {
    Player &player = seats.own;
    Position turned = position(player);
    turned.rotation = static_cast<uint8_t>((turned.rotation + direction) & 3);
    Position left = turned;
    --left.x;
    const bool horizontal = !(turned.rotation & 1);
    if (is_free(seats.field, turned)) {
        // Turning to horizontal with LEFT held moves one column as well.
        if (horizontal && (seats.held & kLeft) && is_free(seats.field, left)) turned = left;
    } else if (horizontal && is_free(seats.field, left)) {
        turned = left;
    } else {
        return;
    }
    player.x = turned.x;
    player.rotation = turned.rotation;
}

}  // namespace

uint8_t gravity_threshold(const Player &player) {
    static constexpr uint8_t kBase[3] = {15, 25, 31};
    return kGravity[std::min(kBase[std::min<int>(player.speed, kHigh)] + player.speed_ups, kSlowest - 1)];
}

bool is_free(const Field &field, const Position &at) {
    if (!(at.rotation & 1) && at.x > kColumns - 2) return false;
    return field[base_cell(at)] == kEmpty && field[second_cell(at)] == kEmpty;
}

void write_halves(Field &field, const Position &at, const uint8_t colours[2]) {
    const bool vertical = at.rotation & 1;
    const bool first_is_base = at.rotation < 2;
    const uint8_t base = base_cell(at), second = second_cell(at);
    const auto write = [&](uint8_t cell, Cell type, uint8_t colour) {
        if (cell < kCells) field[cell] = static_cast<uint8_t>(type + colour);
    };
    write(base, vertical ? kBottom : kLeftHalf, colours[first_is_base ? 0 : 1]);
    write(second, vertical ? kTop : kRightHalf, colours[first_is_base ? 1 : 0]);
}

void fall(const Seats &seats, uint8_t frame_count) {
    seats.own.cells_matched = 0;
    move_down(seats, frame_count);
    // Even in the frame of the lock: the field is done, but the position bytes and the counter still change.
    move_sideways(seats);
    if (seats.pressed & kA) rotate(seats, -1);
    if (seats.pressed & kB) rotate(seats, +1);
}

}  // namespace drmario
