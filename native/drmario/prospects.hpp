// What a capsule's placements lead to, in bytes: the field after each has settled, what the settling brought, how long it
// takes, and what the next capsule could do there. With the situation of both players this is all a policy sees that
// scores placements (mario_rl/selfplay).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "evaluation.hpp"
#include "turns.hpp"

namespace drmario {

// Behind the features of the field (evaluation.hpp):
enum ProspectFeature {
    kLinesMade = kBoardFeatures,  // lines of four and more, chains included; two and more are an attack
    kVirusesTaken,                // viruses in them
    kCellsGone,                   // cells matched
    kPasses,                      // rows that loose pieces fell: 16 frames each
    kChainLinks,                  // times that lines popped
    kFramesTaken,                 // until the next capsule comes under control, in units of four frames
    kBottleClear,                 // 1: no virus is left
    kWayBlocked,                  // 1: the next capsule cannot come in
    kNextViruses,                 // the most viruses that the next capsule can take with a straight drop
    kNextLines,                   // the most lines it can make at once
    kNextVirusRun1,               // the longest top run with a virus, room for four and the next capsule's 1st colour
    kNextVirusRun2,               // the same for its 2nd colour
    kNextRun1,                    // the same without a virus
    kNextRun2,
    kNextColumns1,  // columns that end in its 1st colour
    kNextColumns2,
    kNextOneColour,  // 1: both its halves have the same colour
    kProspectFeatures
};

// The situation before the capsule is placed: the own field's features, the other player's (0 if there is none), and
// these.
enum SituationFeature {
    kTwoPlayers = 2 * kBoardFeatures,
    kAttackOnOwn,    // pieces that wait to fall into the own bottle
    kAttackOnOther,  // and into the other one
    kOwnFall,        // frames a capsule takes for a row
    kOtherFall,
    kOtherSettles,  // 1: the other player's capsule has come to rest, and the next one is not there yet
    kOtherHeight,   // the row of its falling capsule from the bottom
    kSituationFeatures
};

struct FeatureName {
    const char *name;
    uint8_t divisor;  // the byte is the count divided by this, 255 at most
};
extern const std::array<FeatureName, kProspectFeatures> kProspectNames;
extern const std::array<const char *, kSituationFeatures - 2 * kBoardFeatures> kSituationNames;

using ProspectBytes = std::array<uint8_t, kProspectFeatures>;
using SituationBytes = std::array<uint8_t, kSituationFeatures>;

struct Prospect {
    PlacementId id;
    ProspectBytes bytes;
};

// The prospects of the capsule at its decision point, one for each placement that looks different.
void find_prospects(const Ram &ram, int seat, std::vector<Prospect> &out);

SituationBytes situation(const Ram &ram, int seat);

}  // namespace drmario
