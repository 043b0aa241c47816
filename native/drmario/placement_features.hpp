// What there is to say about a placement by looking at its neighbourhood only: bytes that simple 6502 code can count.
//
// The "low" half is the left or the lower one of the capsule, the "high" half the right or the upper one.
#pragma once

#include <array>
#include <cstdint>

#include "placements.hpp"

namespace drmario {

enum PlacementFeature {
    kUpright,        // 1: vertical
    kTopRow,         // rows up to its top, counted from the bottom: 1..16
    kRunLow,         // cells of its colour below the low half, up to 3
    kRunHigh,        // the same for the high half; an upright capsule of one colour counts its low half
    kRunVirusesLow,  // viruses among those below the low half
    kRunVirusesHigh,
    kContactLow,  // what the low half lies on: see Contact
    kContactHigh,
    kBesideLow,  // cells of its colour side by side with the low half in its row, up to 3
    kBesideHigh,
    kFromWall,       // columns between it and the nearer wall
    kGap,            // empty cells straight below its halves, up to the next thing
    kClears,         // 1: completes a line of four or more
    kVirusesGone,    // viruses in the lines it completes, up to 7
    kOneColour,      // 1: both halves have the same colour
    kColumnViruses,  // viruses in its column or columns, up to 7
    kTucked,         // 1: something lies above it
    kPlacementFeatures
};

enum Contact : uint8_t { kNothing, kFloor, kOtherVirus, kOtherPiece, kSameColour };

struct PlacementFeatureName {
    const char *name;
    uint8_t most;  // its greatest value, for scaling
};
extern const std::array<PlacementFeatureName, kPlacementFeatures> kPlacementFeatureNames;

using PlacementFeatures = std::array<uint8_t, kPlacementFeatures>;

// `at` must be free in the field, as every placement is; whatever the cells are.
PlacementFeatures placement_features(const Field &field, const Position &at, const uint8_t colours[2]);

}  // namespace drmario
