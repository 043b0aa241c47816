#include "evaluation.hpp"

#include <algorithm>

namespace drmario {

const std::array<const char *, kBoardFeatures> kBoardFeatureNames = {
    "viruses",     "pieces",       "heights",         "height_squares", "spawn_height",
    "near_height", "outer_height", "highest_square",  "holes",          "runs",
    "buried_runs", "deep_runs",    "burden",          "depths",         "depth_squares",
    "top_1",       "top_2",        "top_3",           "virus_top_1",    "virus_top_2",
    "virus_top_3", "cramped",      "virus_second_1",  "virus_second_2", "virus_second_3",
    "below_2",     "below_3",      "missing_colours", "row_2",          "row_3",
    "virus_row_2", "virus_row_3"};

namespace {

constexpr int kLine = 4;

bool taken(uint8_t cell) {
    return cell < kPop;
}
bool is_virus(uint8_t cell) {
    return (cell & kTypeBits) == kVirus;
}

struct Run {
    int top;  // its highest row
    int cells;
    int viruses;
};

// A run with `above` others on top of it.
void count_run(BoardFeatures &out, const Run &run, int above) {
    const int length = std::min(run.cells, 3) - 1;  // one, two, more
    if (above == 0) {
        const bool has_room = run.top + run.cells >= kLine;
        ++out[static_cast<size_t>(!has_room ? +kCramped : (run.viruses ? kVirusTop1 : kTop1) + length)];
    } else if (length > 0) {
        ++out[static_cast<size_t>(kBelow2 + length - 1)];
    }
    if (run.viruses && above > 0) {
        if (above == 1) ++out[static_cast<size_t>(kVirusSecond1 + length)];
        ++out[kBuriedRuns];
        if (above > 1) ++out[kDeepRuns];
        out[kBurden] += static_cast<int16_t>(above * run.viruses);
    }
}

void count_height(BoardFeatures &out, int column, int height) {
    const bool spawn = column == 3 || column == 4, near = column == 2 || column == 5;
    const int excess = std::max(height - (spawn ? 9 : near ? 10 : 11), 0);
    out[static_cast<size_t>(spawn  ? kSpawnHeight
                            : near ? kNearHeight
                                   : kOuterHeight)] += static_cast<int16_t>(excess * excess);
    out[kHeights] += static_cast<int16_t>(height);
    out[kHeightSquares] += static_cast<int16_t>(height * height);
    out[kHighestSquare] = std::max(out[kHighestSquare], static_cast<int16_t>(height * height));
}

// Returns the colour the column ends in, as a bit; 0 if it is empty.
unsigned count_column(BoardFeatures &out, const Field &field, int column) {
    int row = 0;
    while (row < kRows && !taken(field.cells[row * kColumns + column])) ++row;
    count_height(out, column, kRows - row);
    if (row == kRows) return 0;
    const unsigned top_colour = field.cells[row * kColumns + column] & kColourBits;
    unsigned colour = top_colour;
    Run run{row, 0, 0};
    int above = 0, depth = 0;
    for (; row < kRows; ++row) {
        const uint8_t cell = field.cells[row * kColumns + column];
        if (!taken(cell)) {
            ++out[kHoles];
            continue;
        }
        if ((cell & kColourBits) != colour) {
            count_run(out, run, above++);
            colour = cell & kColourBits;
            run = {row, 0, 0};
        }
        ++run.cells;
        if (is_virus(cell)) {
            ++run.viruses;
            ++out[kViruses];
            depth = above;
        } else {
            ++out[kPieces];
        }
    }
    count_run(out, run, above);
    out[kRuns] += static_cast<int16_t>(above + 1);
    out[kDepths] += static_cast<int16_t>(depth);
    out[kDepthSquares] += static_cast<int16_t>(depth * depth);
    return 1u << top_colour;
}

// Windows of four cells in a row.
void count_row(BoardFeatures &out, const uint8_t *row) {
    for (int first = 0; first + kLine <= kColumns; ++first) {
        unsigned colours = 0;
        int cells = 0, viruses = 0;
        for (int i = first; i < first + kLine; ++i) {
            if (!taken(row[i])) continue;
            colours |= 1u << (row[i] & kColourBits);
            ++cells;
            viruses += is_virus(row[i]);
        }
        const bool one_colour = (colours & (colours - 1)) == 0;
        if (!one_colour || cells < 2 || cells == kLine) continue;
        ++out[static_cast<size_t>(kRow2 + cells - 2)];
        if (viruses) ++out[static_cast<size_t>(kVirusRow2 + cells - 2)];
    }
}

}  // namespace

int count_viruses(const Field &field) {
    return static_cast<int>(std::count_if(field.cells, field.cells + kCells, is_virus));
}

BoardFeatures board_features(const Field &field) {
    BoardFeatures out{};
    unsigned top_colours = 0;
    for (int column = 0; column < kColumns; ++column) top_colours |= count_column(out, field, column);
    for (unsigned colour = 0; colour < 3; ++colour) out[kMissingColours] += !(top_colours >> colour & 1);
    for (int row = 0; row < kRows; ++row) count_row(out, field.cells + row * kColumns);
    return out;
}

}  // namespace drmario
