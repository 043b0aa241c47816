#include "games.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>

namespace drmario {
namespace {

constexpr int kMostGames = 1 << 20;
constexpr int kMostThreads = 256;
// Games a thread takes at a time: a frame takes less time than handing out a game.
constexpr int kTogether = 8;

int checked(int value, int most, const char *message) {
    if (value < 1 || value > most) throw std::invalid_argument(message);
    return value;
}

}  // namespace

Games::Games(int count, int threads)
    : count_(checked(count, kMostGames, "n must be between 1 and 1048576")),
      threads_(checked(threads, kMostThreads, "threads must be between 1 and 256")),
      rams_(std::make_unique<Ram[]>(static_cast<size_t>(count))),
      lanes_(static_cast<size_t>(count)),
      pool_(std::min(threads, (count + kTogether - 1) / kTogether)) {
    const uint8_t zeros[2] = {0, 0};
    constexpr uint16_t kPowerOnSeed = 0x8988;
    for (int game = 0; game < count_; ++game) new_game(ram(game), kPowerOnSeed, zeros, zeros, 1);
}

void Games::each(const bool *mask, const std::function<void(int)> &work) {
    running_ = true;
    pool_.run((count_ + kTogether - 1) / kTogether, [&](int block) {
        const int end = std::min((block + 1) * kTogether, count_);
        for (int game = block * kTogether; game < end; ++game) {
            if (!mask || mask[game]) work(game);
        }
    });
    running_ = false;
}

void Games::step(const uint8_t *pads, const int32_t *frames, const bool *mask) {
    for (int game = 0; game < count_; ++game) {
        if (frames[game] < 0) throw std::invalid_argument("frames must not be negative");
    }
    each(mask, [&](int game) {
        Ram &state = ram(game);
        if (frames[game] > 0) forget_plans(game);
        for (int i = 0; i < frames[game]; ++i) run_frame(state, pads[2 * game], pads[2 * game + 1]);
    });
}

bool Games::skip_intro(const bool *mask) {
    // 84 viruses and their failed attempts take a few hundred frames; a game that is not before its intro takes for
    // ever.
    constexpr int kLongest = 20000;
    std::atomic<bool> all{true};
    each(mask, [&](int game) {
        Ram &state = ram(game);
        int frames = 0;
        while ((state.mode == kInitRound || state.mode == kVirusesAppear) && frames++ < kLongest) {
            skip_idle_frames(state);
            run_frame(state, 0, 0);
        }
        if (state.mode != kPlay) all = false;
    });
    return all;
}

Games::Lane &Games::lane(int game) {
    auto &own = lanes_[static_cast<size_t>(game)];
    if (!own) own = std::make_unique<Lane>();
    return *own;
}

void Games::forget_plans(int game) {
    lanes_[static_cast<size_t>(game)].reset();
}

void Games::copy(int source, int target) {
    if (source == target) return;
    ram(target) = ram(source);
    forget_plans(target);
    if (lanes_[static_cast<size_t>(source)]) lane(target) = lane(source);
}

void Games::finish(int game, uint8_t *waiting) {
    Lane &own = lane(game);
    Plan *plans[2] = {&own.plans[0], &own.plans[1]};
    bool stuck;
    waiting[game] = play_to_decision(ram(game), plans, stuck);
}

void Games::next_decision(const bool *mask, uint8_t *waiting) {
    each(mask, [&](int game) {
        const bool playing = ram(game).mode == kPlay && ram(game).phase == kPlaying;
        waiting[game] = seats_waiting(ram(game));
        if (!waiting[game] && playing) finish(game, waiting);
    });
}

void Games::place(const PlacementId *placements, const bool *mask, uint8_t *waiting) {
    std::mutex mutex;
    std::string problem;
    const auto complain = [&](int game, int seat, const char *what) {
        std::lock_guard lock(mutex);
        if (problem.empty()) {
            problem = "game " + std::to_string(game) + ", player " + std::to_string(seat + 1) + ": " + what;
        }
    };
    each(mask, [&](int game) {
        const Ram &state = ram(game);
        const uint8_t due = seats_waiting(state);
        if (!due) complain(game, 0, "no capsule waits for a placement: call next_decision, or reset");
        for (int seat = 0; seat < 2; ++seat) {
            const PlacementId id = placements[2 * game + seat];
            if (!(due >> seat & 1)) {
                if (id >= 0) complain(game, seat, "no capsule waits for a placement: give -1");
                continue;
            }
            Script &script = lane(game).plans[seat].script;
            lane(game).plans[seat].next = 0;
            if (id < 0 ||
                !find_script(Room(state.fields[seat]), Descent(state, seat), placement_position(id), script)) {
                script.length = 0;
                complain(game, seat, "cannot get there: choose one of its placements");
            }
        }
    });
    if (!problem.empty()) {
        each(mask, [&](int game) {
            const uint8_t due = seats_waiting(ram(game));
            for (int seat = 0; seat < 2; ++seat) {
                if (due >> seat & 1) lane(game).plans[seat].clear();
            }
        });
        throw std::invalid_argument(problem);
    }
    each(mask, [&](int game) { finish(game, waiting); });
}

}  // namespace drmario
