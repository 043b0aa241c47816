#include "prospects.hpp"

#include <algorithm>

#include "descent.hpp"
#include "search.hpp"

namespace drmario {

const std::array<FeatureName, kProspectFeatures> kProspectNames = {{
    {"viruses", 1},         {"pieces", 1},        {"heights", 1},          {"height_squares", 8},
    {"spawn_height", 1},    {"near_height", 1},   {"outer_height", 1},     {"highest_square", 1},
    {"holes", 1},           {"runs", 1},          {"buried_runs", 1},      {"deep_runs", 1},
    {"burden", 1},          {"depths", 1},        {"depth_squares", 2},    {"top_1", 1},
    {"top_2", 1},           {"top_3", 1},         {"virus_top_1", 1},      {"virus_top_2", 1},
    {"virus_top_3", 1},     {"cramped", 1},       {"virus_second_1", 1},   {"virus_second_2", 1},
    {"virus_second_3", 1},  {"below_2", 1},       {"below_3", 1},          {"missing_colours", 1},
    {"row_2", 1},           {"row_3", 1},         {"virus_row_2", 1},      {"virus_row_3", 1},
    {"lines_made", 1},      {"viruses_taken", 1}, {"cells_gone", 1},       {"passes", 1},
    {"chain_links", 1},     {"frames_taken", 4},  {"bottle_clear", 1},     {"way_blocked", 1},
    {"next_viruses", 1},    {"next_lines", 1},    {"next_virus_run_1", 1}, {"next_virus_run_2", 1},
    {"next_run_1", 1},      {"next_run_2", 1},    {"next_columns_1", 1},   {"next_columns_2", 1},
    {"next_one_colour", 1},
}};

const std::array<const char *, kSituationFeatures - 2 * kBoardFeatures> kSituationNames = {
    "two_players", "attack_on_own", "attack_on_other", "own_fall", "other_fall", "other_settles", "other_height"};

namespace {

// Frames of settling, from docs/drmario.md: a drop pass that moves something, a match with its pop, and all the rest
// from the last pass to the next decision with two players.
constexpr int kPassFrames = 16, kChainFrames = 20, kLastFrames = 9, kFirstPassFrames = 4;

uint8_t as_byte(int value) {
    return static_cast<uint8_t>(std::clamp(value, 0, 255));
}

void write_board(const BoardFeatures &features, uint8_t *bytes) {
    for (size_t i = 0; i < kBoardFeatures; ++i) bytes[i] = as_byte(features[i] / kProspectNames[i].divisor);
}

bool taken(uint8_t cell) {
    return cell < kPop;
}
bool is_virus(uint8_t cell) {
    return (cell & kTypeBits) == kVirus;
}

// --- what the next capsule could do with a settled field -----------------------------------------------------------

// The run of one colour that a column ends in.
struct TopRun {
    int row = kRows;  // of its highest cell; kRows: the column is empty
    int colour = -1;
    int cells = 0, viruses = 0;

    TopRun() = default;
    TopRun(const Field &field, int column) {
        row = 0;
        while (row < kRows && !taken(field.cells[row * kColumns + column])) ++row;
        if (row == kRows) return;
        colour = field.cells[row * kColumns + column] & kColourBits;
        for (int r = row; r < kRows; ++r) {
            const uint8_t cell = field.cells[r * kColumns + column];
            if (!taken(cell) || (cell & kColourBits) != colour) break;
            ++cells;
            viruses += is_virus(cell);
        }
    }
    bool has_room() const { return row + cells >= 4; }
};

// What one straight drop takes: lines that its two halves complete, and the viruses in them.
struct Drop {
    int lines = 0, viruses = 0;
};

class NextCapsule {
  public:
    NextCapsule(const Field &field, const uint8_t colours[2]) : field_(field), colours_{colours[0], colours[1]} {
        for (int column = 0; column < kColumns; ++column) tops_[column] = TopRun(field, column);
    }

    void write(ProspectBytes &out) {
        const bool one_colour = colours_[0] == colours_[1];
        out[kNextOneColour] = one_colour;
        for (int half = 0; half < 2; ++half) {
            uint8_t virus_run = 0, run = 0, columns = 0;
            for (const TopRun &top : tops_) {
                if (top.colour != colours_[half]) continue;
                ++columns;
                if (!top.has_room()) continue;
                uint8_t &longest = top.viruses ? virus_run : run;
                longest = std::max(longest, as_byte(top.cells));
            }
            out[static_cast<size_t>(kNextVirusRun1 + half)] = virus_run;
            out[static_cast<size_t>(kNextRun1 + half)] = run;
            out[static_cast<size_t>(kNextColumns1 + half)] = columns;
        }
        Drop best;
        for (int swapped = 0; swapped < (one_colour ? 1 : 2); ++swapped) {
            const int first = colours_[swapped], second = colours_[1 - swapped];
            for (int c = 0; c < kColumns; ++c) add(best, upright(c, first, second));
            for (int c = 0; c + 1 < kColumns; ++c) add(best, lying(c, first, second));
        }
        out[kNextViruses] = as_byte(best.viruses);
        out[kNextLines] = as_byte(best.lines);
    }

  private:
    static void add(Drop &best, const Drop &drop) {
        best.lines = std::max(best.lines, drop.lines);
        best.viruses = std::max(best.viruses, drop.viruses);
    }

    // `low` comes to lie on the column, `high` above it.
    Drop upright(int column, int low, int high) const {
        Drop out;
        const TopRun &top = tops_[column];
        const int row = top.row - 1;
        if (row < 1) return out;  // no room
        const int below = top.colour == low ? top.cells : 0;
        const int cells = below + 1 + (high == low);
        if (cells >= 4) ++out.lines, out.viruses += top.viruses;
        beside(out, row, column, column, low);
        beside(out, row - 1, column, column, high);
        return out;
    }

    Drop lying(int column, int left, int right) const {
        Drop out;
        const TopRun &first = tops_[column], &second = tops_[column + 1];
        const int row = std::min(first.row, second.row) - 1;
        if (row < 0) return out;
        for (const auto &[top, colour] : {std::pair(&first, left), std::pair(&second, right)}) {
            if (top->row == row + 1 && top->colour == colour && top->cells >= 3)
                ++out.lines, out.viruses += top->viruses;
        }
        if (left == right) {
            beside(out, row, column, column + 1, left);
        } else {
            beside(out, row, column, column, left);
            beside(out, row, column + 1, column + 1, right);
        }
        return out;
    }

    // The line in a row through the columns `from` to `to`, which have this colour now.
    void beside(Drop &out, int row, int from, int to, int colour) const {
        int cells = to - from + 1, viruses = 0;
        for (int c = from - 1; c >= 0 && same(row, c, colour); --c) ++cells, viruses += is_virus(at(row, c));
        for (int c = to + 1; c < kColumns && same(row, c, colour); ++c) ++cells, viruses += is_virus(at(row, c));
        if (cells >= 4) ++out.lines, out.viruses += viruses;
    }

    uint8_t at(int row, int c) const { return field_.cells[row * kColumns + c]; }
    bool same(int row, int c, int colour) const { return taken(at(row, c)) && (at(row, c) & kColourBits) == colour; }

    const Field &field_;
    const int colours_[2];
    TopRun tops_[kColumns];
};

// -------------------------------------------------------------------------------------------------------------------

}  // namespace

void find_prospects(const Ram &ram, int seat, std::vector<Prospect> &out) {
    const Player &player = ram.player(seat);
    const Descent descent(ram, seat);
    const Capsule start{3, kRows - 1, 0, 0, descent.das, descent.held};
    const bool one_colour = player.colours[0] == player.colours[1];
    const int viruses_before = count_viruses(ram.fields[seat]);
    Placements found;
    find_placements(Room(ram.fields[seat]), descent, found);
    out.clear();
    for (int i = 0; i < found.count; ++i) {
        const PlacementId id = found.ids[static_cast<size_t>(i)];
        if (found.canonical(i, one_colour) != id) continue;
        const Position at = placement_position(id);
        Field field = ram.fields[seat];
        write_halves(field, at, player.colours);
        const Settling settling = settle_at_once(field);
        const BoardFeatures board = board_features(field);
        const int falling = frames_at_least(start, at, descent.threshold, descent.next_frame_odd);
        const int first_pass = std::max(kFirstPassFrames, kRows - at.y);
        const int frames =
            falling + first_pass + kPassFrames * settling.passes + kChainFrames * settling.links + kLastFrames;

        out.push_back({id, {}});
        ProspectBytes &bytes = out.back().bytes;
        write_board(board, bytes.data());
        bytes[kLinesMade] = as_byte(settling.lines);
        bytes[kVirusesTaken] = as_byte(viruses_before - board[kViruses]);
        bytes[kCellsGone] = as_byte(settling.cells);
        bytes[kPasses] = as_byte(settling.passes);
        bytes[kChainLinks] = as_byte(settling.links);
        bytes[kFramesTaken] = as_byte(frames / kProspectNames[kFramesTaken].divisor);
        bytes[kBottleClear] = board[kViruses] == 0;
        bytes[kWayBlocked] = field.cells[3] != kEmpty || field.cells[4] != kEmpty;
        NextCapsule(field, player.next).write(bytes);
    }
}

SituationBytes situation(const Ram &ram, int seat) {
    SituationBytes out{};
    const Player &own = ram.player(seat), &other = ram.player(1 - seat);
    write_board(board_features(ram.fields[seat]), out.data());
    out[kOwnFall] = static_cast<uint8_t>(gravity_threshold(own) + 1);
    if (!ram.two_players()) return out;
    write_board(board_features(ram.fields[1 - seat]), out.data() + kBoardFeatures);
    out[kTwoPlayers] = 1;
    out[kAttackOnOwn] = other.attack;
    out[kAttackOnOther] = own.attack;
    out[kOtherFall] = static_cast<uint8_t>(gravity_threshold(other) + 1);
    out[kOtherSettles] = other.action != kFalling;
    out[kOtherHeight] = other.action == kFalling ? other.y : 0;
    return out;
}

}  // namespace drmario
