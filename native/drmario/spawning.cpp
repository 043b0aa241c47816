// From one capsule to the next: attacks are sent and received, the next capsule is thrown and enters.
#include <algorithm>

#include "rules.hpp"

namespace drmario {
namespace {

constexpr uint8_t kThrowSteps = 22;
constexpr int kSpawnColumn = 3;

// The opponent's attack lands as singles in the top row, over whatever is there.
void receive(const Seats &seats, uint8_t frame_count) {
    const uint8_t size = std::min<uint8_t>(seats.other.attack, 4);
    const int start = frame_count & (size == 4 ? 1 : 3);
    const int apart = size == 2 ? 4 : 2;
    for (int i = 0; i < size; ++i) {
        seats.field[static_cast<uint8_t>(start + i * apart)] =
            static_cast<uint8_t>(kSingle + seats.other.attack_colours[i]);
    }
    seats.other.attack = 0;
    seats.own.action = kSettling;
    seats.own.settle_step = 0;
}

}  // namespace

void check_attacks(const Seats &seats, uint8_t frame_count, bool two_players) {
    Player &player = seats.own;
    if (two_players && player.combo >= 2) {
        player.attack = static_cast<uint8_t>(player.attack + player.combo);
        player.combo = 0;
    }
    if (two_players && seats.other.attack >= 2) {
        receive(seats, frame_count);
    } else {
        player.action = kPass;
    }
}

// Alone, the capsule is thrown into the bottle first; on LOW the throw moves in every second frame only.
void throw_capsule(Ram &ram, Player &player, Field &field) {
    if (!ram.two_players()) {
        if (player.speed == kLow && !(ram.frame_count & 1)) return;
        ++ram.throw_index;
        player.throw_rotation = ram.throw_index & 3;
        if (ram.throw_index != kThrowSteps) return;
        ram.throw_index = 0;
        player.throw_rotation = 0;
    }
    spawn(player, field, ram.reserve);
}

void spawn(Player &player, Field &field, const uint8_t reserve[kReserve]) {
    player.colours[0] = player.next[0];
    player.colours[1] = player.next[1];
    const uint8_t id = reserve[player.reserve_index & (kReserve - 1)];
    player.next[0] = id / 3;
    player.next[1] = id % 3;
    player.reserve_index = (player.reserve_index + 1) & (kReserve - 1);
    player.x = kSpawnColumn;
    player.y = kRows - 1;
    player.rotation = 0;
    player.combo = 0;
    player.capsules[0] = bcd_plus_one(player.capsules[0]);
    if (player.capsules[0] == 0) player.capsules[1] = bcd_plus_one(player.capsules[1]);
    if ((player.capsules[0] & 0x0F) == 0 && player.speed_ups < kMostSpeedUps) ++player.speed_ups;
    player.action = kSpawned;

    const Position entry{kSpawnColumn, kRows - 1, 0};
    if (!is_free(field, entry)) {
        write_halves(field, entry, player.colours);
        player.failed = 1;
    }
}

}  // namespace drmario
