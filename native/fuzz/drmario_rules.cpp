// Dr. Mario games with damaged RAM, or none but garbage: whatever the bytes, every call comes back and stays inside.
#include "../drmario/image.hpp"
#include "../drmario/placement_features.hpp"
#include "../drmario/prospects.hpp"
#include "../drmario/search.hpp"
#include "../drmario/turns.hpp"
#include "fuzz.hpp"

namespace {

using namespace drmario;

void begin(fuzz::Random &random, Ram &ram) {
    const uint8_t levels[2] = {static_cast<uint8_t>(random.below(25)), static_cast<uint8_t>(random.below(25))};
    const uint8_t speeds[2] = {static_cast<uint8_t>(random.below(3)), static_cast<uint8_t>(random.below(3))};
    new_game(ram, static_cast<uint16_t>(2 + random.below(65534)), levels, speeds,
             static_cast<uint8_t>(1 + random.below(2)));
    while (ram.mode != kPlay) run_frame(ram, 0, 0);
    for (uint64_t i = random.below(300); i > 0; --i) run_frame(ram, random.byte(), random.byte());
}

void damage(fuzz::Random &random, Ram &ram) {
    auto *bytes = reinterpret_cast<uint8_t *>(&ram);
    if (random.one_in(4)) {
        for (size_t i = 0; i < kRamSize; ++i) bytes[i] = random.byte();
        return;
    }
    // Where the rules look: randomness, modes, blocks, fields, score, reserve.
    static const size_t places[] = {0x17, 0x40, 0x300, 0x380, 0x400, 0x500, 0x720, 0x780};
    for (uint64_t i = random.below(64); i > 0; --i) {
        bytes[(places[random.below(sizeof places / sizeof *places)] + random.below(0x80)) % kRamSize] = random.byte();
    }
}

// Garbage rarely waits for a placement by itself.
void let_capsules_wait(fuzz::Random &random, Ram &ram) {
    ram.mode = kPlay;
    ram.phase = ram.paused = 0;
    ram.players = static_cast<uint8_t>(1 + random.below(2));
    for (int seat = 0; seat < 2; ++seat) {
        Player &player = ram.player(seat);
        player.action = random.one_in(3) ? random.byte() & 7 : static_cast<uint8_t>(kFalling);
        player.x = 3;
        player.y = kRows - 1;
        player.rotation = player.gravity = 0;
        if (random.one_in(2)) ram.fields[seat][3] = ram.fields[seat][4] = kEmpty;
    }
}

void choose(fuzz::Random &random, uint64_t seed, Ram &ram, int seat) {
    const Room room(ram.fields[seat]);
    const Descent descent(ram, seat);
    Placements found;
    find_placements(room, descent, found);
    for (int i = 0; i < found.count; ++i) {
        const Position at = placement_position(found.ids[static_cast<size_t>(i)]);
        placement_features(ram.fields[seat], at, ram.player(seat).colours);
        Script script;
        if (random.one_in(8) && !find_script(room, descent, at, script)) fuzz::fail(seed, "a placement has no script");
    }
    Script anywhere;
    find_script(room, descent, placement_position(static_cast<PlacementId>(random.below(kPlacementIds))), anywhere);
    Weights weights;
    for (auto &weight : weights) weight = static_cast<float>(random.byte()) - 128;
    if (random.one_in(50)) best_placement(ram, seat, 2, weights);
    std::vector<Prospect> prospects;
    find_prospects(ram, seat, prospects);
    situation(ram, seat);
}

void one_case(uint64_t seed) {
    fuzz::Random random(seed);
    Ram ram;
    begin(random, ram);
    damage(random, ram);
    if (random.one_in(2)) let_capsules_wait(random, ram);
    try {
        check_state(ram);
    } catch (const StateError &) {
        // Refused; but `ram` of a batch may be written by anybody, so it is played all the same.
    }
    for (int seat = 0; seat < 2; ++seat) {
        if (at_decision(ram, seat)) choose(random, seed, ram, seat);
    }
    Ram copy = ram;
    Plan nothing[2];
    Plan *plans[2] = {&nothing[0], &nothing[1]};
    Tally tally(copy);
    bool stuck;
    play_to_decision(copy, plans, stuck, kFirstWaits, &tally);
    for (int i = 0; i < 600; ++i) {
        run_frame(ram, random.one_in(3) ? random.byte() : 0, random.one_in(3) ? random.byte() : 0);
    }
}

}  // namespace

int main(int argc, char **argv) {
    return fuzz::run(argc, argv, "drmario_rules", one_case);
}
