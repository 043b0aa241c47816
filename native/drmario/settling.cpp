// What happens to the field after a lock: pieces fall, lines match and pop, until nothing moves.
//
// The passes work on whole rows: eight cells are the eight bytes of a word, column 0 the lowest.
#include <algorithm>
#include <bit>
#include <cstring>

#include "rows.hpp"
#include "rules.hpp"

namespace drmario {
namespace {

// The drop pass cell by cell as the rules state it, from `last` up to the first.
bool drop_cells(Field &field, int last) {
    bool moved = false;
    for (int i = last; i >= 0; --i) {
        const uint8_t cell = static_cast<uint8_t>(i), above = static_cast<uint8_t>(i - kColumns);
        if (field[cell] < kPop) continue;
        field[cell] = kEmpty;
        const uint8_t type = field[above] & kTypeBits;
        if (type == kSingle || type == kTop || type == kBottom) {
            std::swap(field[cell], field[above]);
            moved = true;
        } else if (type == kRightHalf) {
            const uint8_t left = static_cast<uint8_t>(i - 1), above_left = static_cast<uint8_t>(above - 1);
            if (field[left] < kPop) continue;
            field[left] = kEmpty;
            std::swap(field[cell], field[above]);
            std::swap(field[left], field[above_left]);
            moved = true;
            --i;
        }
    }
    return moved;
}

// Adds the points of one virus; the later ones of one settling are worth more.
void score_virus(Player &player, uint8_t digits[6]) {
    static constexpr int kMultiplier[] = {1, 2, 4, 8, 16, 32};
    constexpr int kMost = 999999;
    int score = 0;
    for (int i = 5; i >= 0; --i) score = score * 10 + digits[i];
    score += 10 * (player.speed + 1) * kMultiplier[std::min<int>(player.score_step, 5)];
    score = std::min(score, kMost);
    for (int i = 0; i < 6; ++i, score /= 10) digits[i] = static_cast<uint8_t>(score % 10);
    if (player.score_step < 255) ++player.score_step;
}

// A line from `first` on, in steps of 1 (a row) or 8 (a column).
void match_line(Field &field, Player &player, uint8_t *score, int first, int step, int length) {
    const uint8_t colour = field.cells[first] & kColourBits;
    ++player.lines;
    ++player.combo;
    player.last_line = static_cast<uint8_t>(length - 1);
    player.last_line_row = static_cast<uint8_t>(first / kColumns);
    if (player.combo >= 1 && player.combo <= 4) player.attack_colours[player.combo - 1] = colour;
    player.cells_matched = static_cast<uint8_t>(player.cells_matched + length);
    for (int i = 0, cell = first; i < length; ++i, cell += step) {
        if ((field.cells[cell] & kTypeBits) == kVirus) {
            player.viruses = bcd_minus_one(player.viruses);
            player.redraw_row = kRows - 1;
            if (score) score_virus(player, score);
            if (player.viruses == 0) ++player.wins;
        }
        field.cells[cell] = static_cast<uint8_t>(kMatched + colour);
    }
}

// Maximal runs of one colour along `count` cells from `first` on; those of four or more are lines.
void match_lines(Field &field, Player &player, uint8_t *score, int first, int step, int count) {
    const auto colour = [&](int i) { return field.cells[first + i * step] & kColourBits; };
    const auto taken = [&](int i) { return field.cells[first + i * step] < kPop; };
    for (int start = 0, end; start < count; start = end) {
        end = start + 1;
        if (!taken(start)) continue;
        while (end < count && taken(end) && colour(end) == colour(start)) ++end;
        if (end - start >= 4) match_line(field, player, score, first + start * step, step, end - start);
    }
}

}  // namespace

bool drop_pass(Field &field) {
    Row *rows = field_rows(field);
    Row moved = 0;
    for (int r = kRows - 1; r >= 0; --r) {
        const Row above = r > 0 ? rows[r - 1] : kEmptyRow;
        const Row rights = of_type(above, kRightHalf);
        // No capsule lies across the left edge, nor do two right halves lie side by side; a field that was written by
        // somebody else may say so, and is then moved cell by cell.
        if (rights & (column(0) | rights << 8)) return drop_cells(field, r * kColumns + kColumns - 1) || moved;
        const Row empty = gone(rows[r]);
        const Row pairs = rights & empty & empty << 8;
        const Row moving =
            (empty & (of_type(above, kSingle) | of_type(above, kTop) | of_type(above, kBottom))) | pairs | pairs >> 8;
        rows[r] = ((rows[r] | empty) & ~moving) | (above & moving);
        if (r > 0) rows[r - 1] = above | moving;
        moved |= moving;
    }
    return moved != 0;
}

void match_rows(Field &field, Player &player, uint8_t *score) {
    const Row *rows = field_rows(field);
    for (int r = 0; r < kRows; ++r) {
        if (has_row_line(rows[r])) match_lines(field, player, score, r * kColumns, 1, kColumns);
    }
}

void match_columns(Field &field, Player &player, uint8_t *score) {
    const Row columns = column_lines(field_rows(field));
    for (int c = 0; c < kColumns; ++c) {
        if (columns & column(c)) match_lines(field, player, score, c, kColumns, kRows);
    }
}

void update_cells(Field &field) {
    Row *rows = field_rows(field);
    Row above = kEmptyRow;  // as it was before this pass
    for (int r = 0; r < kRows; ++r) {
        const Row row = rows[r], below = r + 1 < kRows ? rows[r + 1] : kEmptyRow;
        const Row alone = (of_type(row, kTop) & ~of_type(below, kBottom)) |
                          (of_type(row, kBottom) & ~of_type(above, kTop)) |
                          (of_type(row, kLeftHalf) & ~(of_type(row, kRightHalf) >> 8)) |
                          (of_type(row, kRightHalf) & ~(of_type(row, kLeftHalf) << 8));
        const Row matched = of_type(row, kMatched);
        rows[r] = (row & ~(alone & kTypes)) | (alone & repeat(kSingle)) | (matched & repeat(kPop));
        above = row;
    }
}

void settle(const Seats &seats, uint8_t *score) {
    Player &player = seats.own;
    switch (player.settle_step) {
        case 0:
            player.score_step = 0;
            player.settle_step = 1;
            break;
        case 1:
        case 2: ++player.settle_step; break;
        case 3:
            if (player.redraw_row != kNoRow) break;
            player.settle_step = drop_pass(seats.field) ? 2 : 4;
            player.redraw_row = kRows - 1;
            break;
        case 4:
            player.lines = 0;
            player.settle_step = 5;
            break;
        case 5:
            match_rows(seats.field, player, score);
            player.settle_step = 6;
            break;
        case 6:
            match_columns(seats.field, player, score);
            player.settle_step = 7;
            break;
        case 7:
            update_cells(seats.field);
            player.redraw_row = kRows - 1;
            player.settle_step = player.lines ? 1 : 8;
            break;
        case 8:
            player.settle_step = 0;
            player.action = kAttackCheck;
            break;
        default: break;
    }
}

}  // namespace drmario
