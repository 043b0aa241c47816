// Which final positions can be reached.
#include "placements.hpp"

#include <cstring>
#include <utility>

namespace drmario {
namespace {

constexpr uint8_t kTurnButtons[4] = {0, kA, kB, kA | kB};

// All positions a set grows to in one more move.
Positions grown(Positions set, Positions room) {
    const Turn turn{room, false};
    return set | moved_left(set, room) | moved_right(set, room) | turn.clockwise(set) | turn.counter_clockwise(set);
}

// As above, with a direction and a turn in the same frame.
Positions grown_by_tap(Positions set, Positions room) {
    const Turn turn{room, false}, turn_left{room, true};
    const Positions right = set | moved_right(set, room), left = moved_left(set, room);
    return right | left | turn.clockwise(right) | turn.counter_clockwise(right) | turn_left.clockwise(left) |
           turn_left.counter_clockwise(left);
}

// --- exactly, frame by frame ---------------------------------------------------------------------------------------

// What decides how the next frame's pad acts: the direction held and its counter, and which of A and B are held.
enum Direction { kNone, kToLeft, kToRight, kDirectionCount };
constexpr int kCounters = 16;

struct HeldSets {
    Positions sets[kDirectionCount][kCounters][4];
};

// A set after an attempt to move, by what it does to the counter.
struct Shifted {
    Positions done;     // moved, or at the wall
    Positions blocked;  // by a piece: the counter becomes 15
};

Shifted try_to_move(Positions set, Positions room, Direction direction) {
    const Positions wall = direction == kToRight ? kRightmost : kLeftmost;
    const Positions moved = direction == kToRight ? moved_right(set, room) : moved_left(set, room);
    const Positions could = direction == kToRight ? moved >> 1 : moved << 1;
    return {moved | (set & wall), set & ~wall & ~could};
}

// Adds what a set becomes that holds `direction` with the counter at `counter`, by every choice of A and B.
void add_turned(HeldSets &next, Positions set, Positions room, Direction direction, int counter, int held_turns) {
    if (!set) return;
    const Turn turn{room, direction == kToLeft};
    for (int pressed = 0; pressed < 4; ++pressed) {
        // A button that stays held does nothing, and is better released.
        if (pressed & held_turns) continue;
        next.sets[direction][counter][pressed] |= turn.press(set, kTurnButtons[pressed]);
    }
}

// The sets after one frame's horizontal and rotation part.
void one_frame(const HeldSets &now, HeldSets &next, Positions room) {
    std::memset(&next, 0, sizeof next);
    for (int turns = 0; turns < 4; ++turns) {
        Positions by_direction[kDirectionCount] = {};
        for (int d = 0; d < kDirectionCount; ++d) {
            for (const auto &counted : now.sets[d]) by_direction[d] |= counted[turns];
        }
        const Positions all = by_direction[kNone] | by_direction[kToLeft] | by_direction[kToRight];
        if (!all) continue;
        add_turned(next, all, room, kNone, 0, turns);
        for (const Direction direction : {kToLeft, kToRight}) {
            // Only who does not hold it can press it anew.
            const Direction opposite = direction == kToLeft ? kToRight : kToLeft;
            const Shifted fresh = try_to_move(by_direction[kNone] | by_direction[opposite], room, direction);
            add_turned(next, fresh.done, room, direction, 0, turns);
            add_turned(next, fresh.blocked, room, direction, 15, turns);
            for (int counter = 0; counter < kCounters - 1; ++counter) {
                add_turned(next, now.sets[direction][counter][turns], room, direction, counter + 1, turns);
            }
            const Shifted repeated = try_to_move(now.sets[direction][kCounters - 1][turns], room, direction);
            add_turned(next, repeated.done, room, direction, 10, turns);
            add_turned(next, repeated.blocked, room, direction, 15, turns);
        }
    }
    // With A and B released one can do all that one can do with them held.
    for (auto &counted : next.sets) {
        for (auto &sets : counted) {
            sets[1] &= ~sets[0];
            sets[2] &= ~sets[0];
            sets[3] &= ~(sets[0] | sets[1] | sets[2]);
        }
    }
}

}  // namespace

void find_placements_exactly(const Room &room, const Descent &descent, Positions locks[kRows]) {
    HeldSets buffers[2] = {};
    HeldSets *now = &buffers[0], *next = &buffers[1];
    const Direction held = descent.held & kLeft ? kToLeft : descent.held & kRight ? kToRight : kNone;
    const int counter = held == kNone ? 0 : descent.das & 15;
    const int turns = (descent.held & kA ? 1 : 0) | (descent.held & kB ? 2 : 0);
    now->sets[held][counter][turns] = one_position(3, 0) & room.at(kRows - 1);
    std::memset(locks, 0, sizeof(Positions) * kRows);
    bool both_held = (descent.held & (kLeft | kRight)) == (kLeft | kRight);
    int y = kRows - 1;
    for (int gravity = 1;; ++gravity) {
        if (gravity > descent.threshold) {
            gravity = 0;
            const Positions below = room.at(y - 1);
            Positions left = 0;
            for (auto &counted : now->sets) {
                for (auto &sets : counted) {
                    for (Positions &set : sets) {
                        locks[y] |= set & ~below;
                        set &= below;
                        left |= set;
                    }
                }
            }
            if (!left) return;
            --y;
        }
        one_frame(*now, *next, room.at(y));
        if (both_held) {  // nobody's thumbs do that: let go of both first
            std::memset(next->sets[kToLeft], 0, sizeof next->sets[kToLeft]);
            std::memset(next->sets[kToRight], 0, sizeof next->sets[kToRight]);
            both_held = false;
        }
        std::swap(now, next);
    }
}

namespace {

// The two bounds: `possible` with all the time in the world, `sure` with one tap every other frame. True if they agree.
bool bounds_agree(const Room &room, const Descent &descent, Positions locks[kRows]) {
    Positions sure = one_position(3, 0) & room.at(kRows - 1), possible = sure;
    // The last frame in a row is the first in the next. A button still held costs the first frame.
    int taps = (descent.threshold - (descent.held ? 1 : 0)) / 2;
    bool agree = true;
    for (int y = kRows - 1; y >= 0; --y) {
        const Positions here = room.at(y), below = room.at(y - 1);
        const bool same = sure == possible;
        bool complete = false;
        for (int tap = 0; tap < taps && !complete; ++tap) {
            const Positions more = grown_by_tap(sure, here);
            complete = more == sure;
            sure = more;
        }
        if (same) possible = sure;
        if (!same || !complete) {
            for (Positions more; (more = grown(possible, here)) != possible;) possible = more;
        }
        locks[y] = possible & ~below;
        agree = agree && locks[y] == (sure & ~below);
        sure &= below;
        possible &= below;
        if (!possible) {
            std::memset(locks, 0, sizeof(Positions) * static_cast<size_t>(y));
            break;
        }
        taps = (descent.threshold + 1) / 2;
    }
    return agree;
}

}  // namespace

PlacementId Placements::canonical(int i, bool one_colour) const {
    const PlacementId id = ids[static_cast<size_t>(i)];
    const PlacementId opposite = static_cast<PlacementId>(id - 2 * kCells);
    if (!one_colour || opposite < 0) return id;
    // Rows are listed from the top and rotations upwards, so it comes before.
    for (int k = i - 1; k >= 0; --k) {
        if (ids[static_cast<size_t>(k)] == opposite) return opposite;
    }
    return id;
}

void find_placements(const Room &room, const Descent &descent, Placements &out) {
    Positions locks[kRows];
    if (!bounds_agree(room, descent, locks)) find_placements_exactly(room, descent, locks);
    out.count = 0;
    Positions open = ~0u;  // free all the way up
    for (int y = kRows - 1; y >= 0; --y) {
        open &= room.at(y);
        for (Positions rest = locks[y]; rest; rest &= rest - 1) {
            const int bit = std::countr_zero(rest);
            const size_t i = static_cast<size_t>(out.count++);
            out.ids[i] = static_cast<PlacementId>((bit >> 3) * 128 + y * 8 + (bit & 7));
            out.tucked[i] = !(open >> bit & 1);
        }
    }
}

}  // namespace drmario
