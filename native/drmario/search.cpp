#include "search.hpp"

#include <algorithm>

namespace drmario {
namespace {

// A field that somebody wrote by hand could keep falling or matching for ever; one that capsules made cannot.
constexpr int kMostDrops = 64;
constexpr int kMostChains = 64;

// What became of a field by one placement.
struct Outcome {
    PlacementId id;
    Field field;
};

// The capsule's outcomes, one for each placement that looks different.
void outcomes(const Field &field, const Descent &descent, const uint8_t colours[2], std::vector<Outcome> &out) {
    out.clear();
    Placements found;
    find_placements(Room(field), descent, found);
    const bool one_colour = colours[0] == colours[1];
    for (int i = 0; i < found.count; ++i) {
        const PlacementId id = found.ids[static_cast<size_t>(i)];
        if (found.canonical(i, one_colour) != id) continue;
        out.push_back({id, field});
        write_halves(out.back().field, placement_position(id), colours);
        settle_at_once(out.back().field);
    }
}

// What a field is worth by itself.
float worth(const Field &field, const Weights &weights) {
    const BoardFeatures features = board_features(field);
    const float sum = weighted(features, weights);
    if (features[kViruses] == 0) return kClearedWorth;
    // Between lost fields, too, there are better and worse ones.
    if (field.cells[3] != kEmpty || field.cells[4] != kEmpty) return kLostWorth + 1000 * sum;
    return sum;
}

bool goes_on(float worth) {
    return worth < kClearedWorth && worth > kLostWorth / 2;
}

// The best the capsule can do with a field.
float best_worth(const Field &field, const Descent &descent, const uint8_t colours[2], const Weights &weights) {
    thread_local std::vector<Outcome> moves;
    outcomes(field, descent, colours, moves);
    float best = 2 * kLostWorth;
    for (const Outcome &move : moves) best = std::max(best, worth(move.field, weights));
    return best;
}

}  // namespace

Settling settle_at_once(Field &field) {
    Settling out;
    Player counters{};
    for (; out.links < kMostChains; ++out.links) {
        for (int drop = 0; drop < kMostDrops && drop_pass(field); ++drop) ++out.passes;
        counters.lines = 0;
        match_rows(field, counters, nullptr);
        match_columns(field, counters, nullptr);
        update_cells(field);
        if (!counters.lines) break;
    }
    out.lines = counters.combo;
    out.cells = counters.cells_matched;
    return out;
}

void rate_placements(const Ram &ram, int seat, int plies, const Weights &weights, std::vector<Rating> &out) {
    thread_local std::vector<Outcome> moves;
    const Player &player = ram.player(seat);
    const Descent now(ram, seat);
    // The next capsule comes with nothing held; that it may be a frame a row faster every tenth time is left out.
    Descent next = now;
    next.held = next.das = 0;

    out.clear();
    outcomes(ram.fields[seat], now, player.colours, moves);
    for (const Outcome &move : moves) {
        float value = worth(move.field, weights);
        if (plies > 1 && goes_on(value)) {
            value = best_worth(move.field, next, player.next, weights);
            // Better clear the bottle now than with the next capsule, and lose later than now.
            if (!goes_on(value)) value /= 2;
        }
        out.push_back({move.id, value});
    }
}

PlacementId best_placement(const Ram &ram, int seat, int plies, const Weights &weights) {
    thread_local std::vector<Rating> ratings;
    rate_placements(ram, seat, plies, weights, ratings);
    const auto best = std::max_element(ratings.begin(), ratings.end(),
                                       [](const Rating &a, const Rating &b) { return a.value < b.value; });
    return best == ratings.end() ? PlacementId{-1} : best->id;
}

void play_round(Ram &ram, int plies, const Weights &weights, int most_capsules, int32_t capsules[2]) {
    Plan plans[2];
    Plan *both[2] = {&plans[0], &plans[1]};
    bool stuck = false;
    uint8_t waiting = seats_waiting(ram);
    if (!waiting && ram.mode == kPlay && ram.phase == kPlaying) waiting = play_to_decision(ram, both, stuck);
    while (waiting && std::max(capsules[0], capsules[1]) < most_capsules) {
        for (int seat = 0; seat < 2; ++seat) {
            if (!(waiting >> seat & 1)) continue;
            const PlacementId best = best_placement(ram, seat, plies, weights);
            plans[seat].clear();
            if (best >= 0) {
                find_script(Room(ram.fields[seat]), Descent(ram, seat), placement_position(best), plans[seat].script);
            }
            ++capsules[seat];
        }
        waiting = play_to_decision(ram, both, stuck);
    }
}

}  // namespace drmario
