// What a settled field is worth: counts of what helps and what is in the way, weighted and added up.
//
// A column is seen as a stack of runs: cells of one colour with no other colour between them, from the top down (holes
// are passed over). Only its top run can be added to; what lies below has to wait until the runs above are gone.
#pragma once

#include <array>
#include <cstdint>

#include "ram.hpp"

namespace drmario {

enum BoardFeature {
    kViruses,
    kPieces,         // cells that are no viruses
    kHeights,        // of all columns, added up
    kHeightSquares,  // their squares
    kSpawnHeight,    // rows above the 9th in columns 3 and 4, where capsules enter: squares
    kNearHeight,     // rows above the 10th in columns 2 and 5: squares
    kOuterHeight,    // rows above the 11th in the others: squares
    kHighestSquare,  // of the highest column
    kHoles,          // empty cells with something above
    kRuns,
    kBuriedRuns,    // runs with a virus below another run
    kDeepRuns,      // runs with a virus below two others
    kBurden,        // for every virus the runs above its own
    kDepths,        // for every column the runs above its lowest virus
    kDepthSquares,  // their squares
    kTop1,          // top runs without a virus, of one, two, or more cells, with room for four
    kTop2,
    kTop3,
    kVirusTop1,  // the same with a virus
    kVirusTop2,
    kVirusTop3,
    kCramped,       // top runs without room for four
    kVirusSecond1,  // runs with a virus just below the top run, of one, two, or more cells
    kVirusSecond2,
    kVirusSecond3,
    kBelow2,  // runs below others, of two, or more cells
    kBelow3,
    kMissingColours,  // colours that no column ends in
    kRow2,            // four cells side by side: two (three) of one colour, the others empty
    kRow3,
    kVirusRow2,  // the same with a virus
    kVirusRow3,
    kBoardFeatures
};

extern const std::array<const char *, kBoardFeatures> kBoardFeatureNames;

using BoardFeatures = std::array<int16_t, kBoardFeatures>;
using Weights = std::array<float, kBoardFeatures>;

// Whatever the cells are, garbage included.
BoardFeatures board_features(const Field &field);
int count_viruses(const Field &field);

inline float weighted(const BoardFeatures &features, const Weights &weights) {
    float sum = 0;
    for (size_t i = 0; i < kBoardFeatures; ++i) sum += weights[i] * features[i];
    return sum;
}

}  // namespace drmario
