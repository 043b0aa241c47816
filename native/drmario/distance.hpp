// How far a capsule is from where it is to lock, at least: what guides and bounds the search for its script.
//
// Frames are looked at in pairs, an even one and the odd one after it, in which DOWN works. In a pair A and B act at
// most once each, and one of two things happens: a move and turns in the even frame, then DOWN and turns in the odd
// one; or no drop, and one move somewhere between the turns. (Left and right in one pair reach nothing that one of them
// with turns does not.) What is asked is always: from where can a capsule get into a set? The answers may be too
// generous.
#pragma once

#include "descent.hpp"

namespace drmario {

// By a press of A or B with LEFT held: turning to horizontal may move one further.
inline Positions turned_left(Positions set, Positions free) {
    const Positions wide = set | (set & kHorizontal) << 1;
    return set | ((std::rotl(wide, 8) | std::rotr(wide, 8)) & free);
}

// The same with LEFT released: only what does not fit is moved.
inline Positions turned(Positions set, Positions free) {
    const Positions wide = set | ((set & kHorizontal) << 1 & ~free);
    return set | ((std::rotl(wide, 8) | std::rotr(wide, 8)) & free);
}

// By one move, or none.
inline Positions moved(Positions set, Positions free) {
    return set | moved_left(set, free) | moved_right(set, free);
}

// Into a set one row further down, by DOWN and turns: from an odd frame on, and from the even one before it.
struct Dropping {
    Positions from_odd, from_even;

    Dropping(Positions below, Positions under, Positions free) {
        const Positions one_press = turned(below, under), two_presses = turned(one_press, under);
        from_odd = two_presses & free;
        from_even = moved(turned_left(turned_left(below & free, free) | (one_press & free), free) | from_odd, free);
    }
};

// Into the lock at the target from its own row.
inline Positions before_lock(Positions goal, Positions free) {
    return moved(turned_left(turned_left(goal, free), free), free);
}

// From where the target can be reached if every odd frame drops, row by row: there is no shorter way.
struct OnTime {
    Positions from_even[kRows], from_odd[kRows];

    OnTime(const Room &room, const Position &target) {
        const int to = kRows - 1 - target.y;
        from_odd[to] = one_position(target.x, target.rotation);
        from_even[to] = before_lock(from_odd[to], room.rows[to]);
        for (int row = to - 1; row >= 0; --row) {
            const Dropping dropping(from_even[row + 1], room.rows[row + 1], room.rows[row]);
            from_odd[row] = dropping.from_odd;
            from_even[row] = dropping.from_even;
        }
    }

    bool allows(const Position &at, bool odd) const {
        const int row = kRows - 1 - at.y;
        return (odd ? from_odd : from_even)[row] & one_position(at.x, at.rotation);
    }
};

// How many frames a capsule needs at least from every position, the lock included, if gravity does not help. Such a
// lock is in an odd frame.
class FramesToTarget {
  public:
    FramesToTarget(const Room &room, const Position &target, const Position &start, bool start_is_odd)
        : to_(row_of(target)) {
        const int from = row_of(start);
        const Positions goal = one_position(target.x, target.rotation);
        const Positions begin = one_position(start.x, start.rotation);
        within_[0][to_] = 0;
        for (count_ = 0; count_ + 2 <= kMost; count_ += 2) {
            Positions *nearer = within_[count_], *from_odd = within_[count_ + 1], *from_even = within_[count_ + 2];
            const int top = std::max(to_ - count_ / 2, 0);  // further up, not even the drops can be done
            if (to_ - count_ / 2 >= 0 && count_ > 0) nearer[top] = 0;
            nearer[to_ + 1] = goal;  // to "drop" there is to lock
            one_pair(room, nearer, from_odd, from_even, top);
            from_odd[to_] |= goal;
            from_even[to_] |= before_lock(goal, room.rows[to_]);
            if (from >= top && (start_is_odd ? from_odd : from_even)[from] & begin) return;
            const bool more = !std::equal(nearer + top, nearer + to_ + 1, from_even + top);
            if (!more && top == 0) break;
        }
        reached_ = false;
    }

    // Whether the start can be left for the target at all, as far as can be told here.
    bool reached() const { return reached_; }

    // At least that many; `at_least`: known before.
    int from(const Position &at, bool odd, int at_least) const {
        const Positions bit = one_position(at.x, at.rotation);
        const int row = row_of(at);
        int frames = std::max(at_least, 2 * (to_ - row) + 1);
        if ((frames & 1) != odd) ++frames;
        while (frames <= count_ + 2 && !(within_[frames][row] & bit)) frames += 2;
        return frames;
    }

  private:
    static constexpr int kMost = 400;

    static int row_of(const Position &at) { return kRows - 1 - at.y; }

    // All rows at once, so that the compiler can take several in one instruction. The lock is not in here.
    void one_pair(const Room &room, const Positions *__restrict nearer, Positions *__restrict from_odd,
                  Positions *__restrict from_even, int top) const {
        const Positions *free_rows = room.rows;
        for (int row = top; row <= to_; ++row) {
            const Positions free = free_rows[row], under = row < to_ ? free_rows[row + 1] : 0;
            const Dropping dropping(nearer[row + 1] & under, under, free);
            const Positions here = nearer[row], one_press = turned_left(here, free), two = turned_left(one_press, free);
            from_odd[row] = dropping.from_odd | moved(two, free);
            const Positions staying =
                moved(two, free) | turned_left(turned_left(moved(here, free), free) | moved(one_press, free), free);
            from_even[row] = here | dropping.from_even | staying;
        }
    }

    int to_;
    int count_;
    bool reached_ = true;
    Positions within_[kMost + 1][kRows + 1];  // [f]: where f frames are enough; f is odd where the first frame is
};

// Frames that must pass if `frames` are needed without gravity's help and the capsule must drop `drops` times. Every
// drop that gravity makes may save two (and one more if it is the lock, in an even frame), but needs threshold + 1
// frames in which nothing else drops.
inline int with_gravity(int frames, int drops, int gravity, int threshold) {
    int least = frames;
    int waiting = threshold + 1 - gravity;
    for (int natural = 1; natural <= drops && waiting < least; ++natural, waiting += threshold + 1) {
        const int down = waiting + std::max(2 * (drops - natural) - (natural + 1), 0);
        least = std::min(least, std::max(frames - 2 * natural - 1, down));
    }
    return least;
}

}  // namespace drmario
