#include "placement_features.hpp"

#include <algorithm>
#include <cstdlib>

namespace drmario {

const std::array<PlacementFeatureName, kPlacementFeatures> kPlacementFeatureNames = {{
    {"upright", 1},
    {"top_row", 16},
    {"run_low", 3},
    {"run_high", 3},
    {"run_viruses_low", 3},
    {"run_viruses_high", 3},
    {"contact_low", 4},
    {"contact_high", 4},
    {"beside_low", 3},
    {"beside_high", 3},
    {"from_wall", 3},
    {"gap", 15},
    {"clears", 1},
    {"viruses_gone", 7},
    {"one_colour", 1},
    {"column_viruses", 7},
    {"tucked", 1},
}};

namespace {

uint8_t at_most(int value, int most) {
    return static_cast<uint8_t>(std::min(value, most));
}

bool is_virus(uint8_t cell) {
    return (cell & kTypeBits) == kVirus;
}
bool has_colour(uint8_t cell, int colour) {
    return cell < kPop && (cell & kColourBits) == colour;
}

// The field with the capsule in it, seen from one of its halves.
struct Half {
    const Field &field;
    int row, column, colour;

    uint8_t cell(int r, int c) const { return field.cells[r * kColumns + c]; }
    bool same(int r, int c) const {
        return r >= 0 && r < kRows && c >= 0 && c < kColumns && has_colour(cell(r, c), colour);
    }
    // Cells of its colour in one direction, itself left out.
    int run(int down, int right) const {
        int n = 0;
        for (int r = row + down, c = column + right; same(r, c); r += down, c += right) ++n;
        return n;
    }
    int viruses(int down, int right, int cells) const {
        int n = 0;
        for (int i = 1; i <= cells; ++i) n += is_virus(cell(row + i * down, column + i * right));
        return n;
    }
    Contact contact() const {
        if (row + 1 >= kRows) return kFloor;
        const uint8_t below = cell(row + 1, column);
        if (below >= kPop) return kNothing;
        if (has_colour(below, colour)) return kSameColour;
        return is_virus(below) ? kOtherVirus : kOtherPiece;
    }
    int empty_below() const {
        int n = 0;
        while (row + 1 + n < kRows && cell(row + 1 + n, column) >= kPop) ++n;
        return n;
    }
    bool covered() const {
        for (int r = row - 1; r >= 0; --r) {
            if (cell(r, column) < kPop) return true;
        }
        return false;
    }
    int column_viruses() const {
        int n = 0;
        for (int r = 0; r < kRows; ++r) n += is_virus(cell(r, column));
        return n;
    }
};

// Adds what the line through a half in one axis does, if it is one.
void add_line(const Half &half, int down, int right, PlacementFeatures &f, int &viruses) {
    const int before = half.run(-down, -right), after = half.run(down, right);
    if (before + after + 1 < 4) return;
    f[kClears] = 1;
    viruses += half.viruses(-down, -right, before) + half.viruses(down, right, after);
}

}  // namespace

PlacementFeatures placement_features(const Field &before, const Position &at, const uint8_t colours[2]) {
    Field field = before;
    write_halves(field, at, colours);
    const bool upright = at.rotation & 1, one_colour = colours[0] == colours[1];
    const bool low_is_first = at.rotation < 2;
    const int row = kRows - 1 - at.y;
    const Half low{field, row, at.x, colours[low_is_first ? 0 : 1]};
    const Half high{field, upright ? row - 1 : row, upright ? at.x : at.x + 1, colours[low_is_first ? 1 : 0]};
    const bool high_is_inside = high.row >= 0;  // the upper half may stick out of the bottle

    PlacementFeatures f{};
    f[kUpright] = upright;
    f[kTopRow] = at_most(at.y + 1 + upright, kRows);
    const int below_low = std::min(low.run(1, 0), 3);
    f[kRunLow] = at_most(below_low, 3);
    f[kRunVirusesLow] = at_most(low.viruses(1, 0, below_low), 3);
    f[kContactLow] = low.contact();
    f[kBesideLow] = at_most(low.run(0, -1) + low.run(0, 1), 3);
    if (high_is_inside) {
        const int below_high = std::min(high.run(1, 0), 3);
        f[kRunHigh] = at_most(below_high, 3);
        f[kRunVirusesHigh] = at_most(high.viruses(1, 0, below_high), 3);
        f[kContactHigh] = high.contact();
        f[kBesideHigh] = at_most(high.run(0, -1) + high.run(0, 1), 3);
    }
    f[kFromWall] = at_most(std::min<int>(at.x, (upright ? kColumns - 1 : kColumns - 2) - at.x), 3);
    f[kGap] = upright ? 0 : at_most(low.empty_below() + high.empty_below(), 15);
    f[kOneColour] = one_colour;
    f[kColumnViruses] = at_most(low.column_viruses() + (upright ? 0 : high.column_viruses()), 7);
    f[kTucked] = (high_is_inside && high.covered()) || (!upright && low.covered());

    int viruses = 0;
    add_line(low, 1, 0, f, viruses);
    add_line(low, 0, 1, f, viruses);
    // Halves of one colour share the line they lie along.
    if (high_is_inside && !(upright && one_colour)) add_line(high, 1, 0, f, viruses);
    if (high_is_inside && !(!upright && one_colour)) add_line(high, 0, 1, f, viruses);
    f[kVirusesGone] = at_most(viruses, 7);
    return f;
}

}  // namespace drmario
