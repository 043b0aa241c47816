// Shortest input scripts: a straightforward attempt that often meets the lower bound, otherwise a search that deepens
// frame by frame (IDA*), guided by how far each position is from the target at least.
#include <algorithm>
#include <climits>
#include <vector>

#include "distance.hpp"

namespace drmario {
namespace {

// Even frames tap sideways, odd ones drop, either may turn. Good if nothing is in the way and there is height enough.
bool tap_and_drop(const Room &room, const Descent &descent, Capsule capsule, const Position &target, int longest,
                  Script &out) {
    bool odd = descent.next_frame_odd;
    for (out.length = 0; out.length < longest; odd = !odd) {
        uint8_t pad = 0;
        if (odd) {
            pad = kDown;
        } else if (capsule.x != target.x) {
            pad = capsule.x < target.x ? kRight : kLeft;
        }
        const int turns = (target.rotation - capsule.rotation) & 3;
        const uint8_t button = turns == 3 ? kA : kB;
        if (turns != 0 && !(capsule.held & button) && !(pad & kLeft)) pad |= button;
        out.pads[static_cast<size_t>(out.length++)] = pad;
        if (capsule.frame(room, descent.threshold, odd, pad)) return capsule.position() == target;
    }
    return false;
}

constexpr uint32_t kKeyA = 1u << 15, kKeyB = 1u << 16;

// Everything a capsule's future depends on, in 26 bits. A direction's counter matters if auto shift can still happen in
// the frames left.
uint32_t key_of(const Capsule &c, bool odd, int frames_left) {
    const uint32_t direction = c.held & (kLeft | kRight);
    uint32_t key = c.x | c.y << 3 | c.rotation << 7 | direction << 9 | static_cast<uint32_t>(c.gravity) << 17;
    if (direction && 16 - c.das <= frames_left) key |= static_cast<uint32_t>(c.das & 15) << 11;
    if (c.held & kA) key |= kKeyA;
    if (c.held & kB) key |= kKeyB;
    return key | (odd ? 1u << 25 : 0);
}

// The fewest frames in which each state was seen; emptied by counting up, not by clearing.
class Seen {
  public:
    void clear() {
        if (++generation_ == kGenerations) {
            std::fill(slots_.begin(), slots_.end(), 0);
            generation_ = 1;
        }
        size_ = 0;
    }

    // False if it was seen before, in as few frames, or the same with A or B released, which is at least as good.
    bool insert(uint32_t key, int frames) {
        const uint32_t released = key & ~(kKeyA | kKeyB);
        if (released != key && has(released, static_cast<uint64_t>(frames))) return false;
        if (2 * (size_ + 1) > slots_.size()) grow();
        return store(key, static_cast<uint64_t>(frames));
    }

  private:
    // A slot: 28 bits generation, 26 bits key, 10 bits frames.
    static constexpr uint64_t kGenerations = 1ull << 28;

    bool has(uint32_t key, uint64_t frames) const {
        const uint64_t name = generation_ << 26 | key;
        const size_t last = slots_.size() - 1;
        for (size_t i = key * 0x9E3779B1u >> 8 & last; slots_[i] >> 36 == generation_; i = (i + 1) & last) {
            if (slots_[i] >> 10 == name) return (slots_[i] & 1023) <= frames;
        }
        return false;
    }

    bool store(uint32_t key, uint64_t frames) {
        const uint64_t name = generation_ << 26 | key;
        const size_t last = slots_.size() - 1;
        for (size_t i = key * 0x9E3779B1u >> 8 & last;; i = (i + 1) & last) {
            uint64_t &slot = slots_[i];
            const bool known = slot >> 10 == name;
            if (known && (slot & 1023) <= frames) return false;
            if (known || slot >> 36 != generation_) {
                slot = name << 10 | frames;
                size_ += !known;
                return true;
            }
        }
    }

    void grow() {
        std::vector<uint64_t> old(2 * slots_.size(), 0);
        old.swap(slots_);
        size_ = 0;
        for (const uint64_t slot : old) {
            if (slot >> 36 == generation_) store(slot >> 10 & ((1u << 26) - 1), slot & 1023);
        }
    }

    std::vector<uint64_t> slots_ = std::vector<uint64_t>(1 << 12, 0);
    size_t size_ = 0;
    uint64_t generation_ = 0;
};

// Depth first, never beyond the bound; then again with the next bound at which there is something new.
class Deepening {
  public:
    Deepening(const Room &room, const Descent &descent, const Position &target, Script &out)
        : room_(room), descent_(descent), target_(target), out_(out) {}

    // Only ways that drop in every odd frame; `frames`: what they take.
    bool run_on_time(const Capsule &start, int frames) {
        const OnTime on_time(room_, target_);
        if (!on_time.allows(start.position(), odd(0))) return false;
        on_time_ = &on_time;
        bound_ = frames;
        seen().clear();
        const bool found = visit(start, 0, 0);
        on_time_ = nullptr;
        return found;
    }

    // All ways.
    bool run(const Capsule &start) {
        const FramesToTarget frames(room_, target_, start.position(), odd(0));
        if (!frames.reached()) return false;
        frames_ = &frames;
        const int unaided = frames.from(start.position(), odd(0), 0);
        const int first = frames_left(start, 0, unaided);
        bool known_reachable = false;
        for (bound_ = first; bound_ <= kMostFrames; bound_ = next_bound_) {
            next_bound_ = INT_MAX;
            seen().clear();
            if (visit(start, 0, unaided)) return true;
            // Seldom: something is in the way that the bounds do not see. Better make sure before looking everywhere.
            if (!known_reachable && next_bound_ > first + 4) {
                if (!reachable()) return false;
                known_reachable = true;
            }
        }
        return false;
    }

  private:
    static Seen &seen() {
        thread_local Seen states;
        return states;
    }

    bool odd(int frames) const { return descent_.next_frame_odd ^ (frames & 1); }

    int frames_left(const Capsule &capsule, int frames, int unaided) const {
        const int drops = capsule.y - target_.y + 1;
        return std::max(with_gravity(unaided, drops, capsule.gravity, descent_.threshold),
                        frames_at_least(capsule, target_, descent_.threshold, odd(frames)));
    }

    // Whether the bound can still be kept; `unaided`: FramesToTarget of the frame before, and then of this one.
    bool promising(const Capsule &capsule, int frames, int &unaided) {
        if (on_time_) {
            return on_time_->allows(capsule.position(), odd(frames)) &&
                   frames + frames_at_least(capsule, target_, descent_.threshold, odd(frames)) <= bound_;
        }
        // One frame saves no more than two pairs, even with gravity's help.
        unaided = frames_->from(capsule.position(), odd(frames), unaided - 4);
        const int total = frames + frames_left(capsule, frames, unaided);
        if (total > bound_) next_bound_ = std::min(next_bound_, total);
        return total <= bound_;
    }

    bool reachable() const {
        Placements placements;
        find_placements(room_, descent_, placements);
        const auto end = placements.ids.begin() + placements.count;
        return std::find(placements.ids.begin(), end, placement_id(target_)) != end;
    }

    bool visit(const Capsule &capsule, int frames, int unaided) {
        const uint8_t towards = capsule.x < target_.x ? kRight : kLeft, away = towards ^ (kLeft | kRight);
        const uint8_t turn = ((target_.rotation - capsule.rotation) & 3) == 3 ? kA : kB;
        const bool turned = target_.rotation == capsule.rotation;
        // The likely ones first. DOWN does something of its own in odd frames where gravity does not drop anyway.
        const bool drops = odd(frames) && capsule.gravity < descent_.threshold;
        const uint8_t down_first[4] = {kDown, towards, 0, away}, aside_first[3] = {towards, 0, away};
        const uint8_t *directions = drops ? down_first : aside_first;
        const uint8_t buttons[4] = {turned ? uint8_t{0} : turn, turned ? turn : uint8_t{0},
                                    static_cast<uint8_t>(turn ^ (kA | kB)), kA | kB};
        for (int d = 0; d < (drops ? 4 : 3); ++d) {
            for (const uint8_t pressed : buttons) {
                if (capsule.held & pressed) continue;  // staying held does nothing; better released
                if (follow(capsule, static_cast<uint8_t>(directions[d] | pressed), frames, unaided)) return true;
            }
        }
        return false;
    }

    bool follow(Capsule capsule, uint8_t pad, int frames, int unaided) {
        const bool locked = capsule.frame(room_, descent_.threshold, odd(frames), pad);
        out_.pads[static_cast<size_t>(frames++)] = pad;
        if (locked) {
            out_.length = frames;
            return capsule.position() == target_;
        }
        if (capsule.y < target_.y || frames >= kMostFrames) return false;
        if (!promising(capsule, frames, unaided)) return false;
        return seen().insert(key_of(capsule, odd(frames), bound_ - frames), frames) && visit(capsule, frames, unaided);
    }

    const Room &room_;
    const Descent &descent_;
    const Position target_;
    Script &out_;
    const OnTime *on_time_ = nullptr;
    const FramesToTarget *frames_ = nullptr;
    int bound_ = 0, next_bound_ = 0;
};

}  // namespace

bool find_script(const Room &room, const Descent &descent, const Position &target, Script &out) {
    const Capsule start{3, kRows - 1, 0, 0, descent.das, descent.held};
    const int least = frames_at_least(start, target, descent.threshold, descent.next_frame_odd);
    if (tap_and_drop(room, descent, start, target, least, out)) return true;
    Deepening search(room, descent, target, out);
    return search.run_on_time(start, least) || search.run(start);
}

}  // namespace drmario
