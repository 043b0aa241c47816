// Many games, stepped together on a pool of threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "../thread_pool.hpp"
#include "turns.hpp"

namespace drmario {

class Games {
  public:
    Games(int count, int threads);

    int count() const { return count_; }
    int threads() const { return threads_; }
    Ram *rams() { return rams_.get(); }
    Ram &ram(int game) { return rams_[static_cast<size_t>(game)]; }
    bool running() const { return running_.load(); }

    // Calls work(game) for every game the mask (nullptr: all) selects, on the pool.
    void each(const bool *mask, const std::function<void(int)> &work);

    // pads: count x 2; frames: one number per game.
    void step(const uint8_t *pads, const int32_t *frames, const bool *mask);
    // Until play begins, without touching the pads; false if a game cannot get there.
    bool skip_intro(const bool *mask);

    // On to the next decision with nothing pressed; at once if a game stands at one. waiting[game]: see turns.hpp.
    void next_decision(const bool *mask, uint8_t *waiting);
    // Plays one placement (count x 2, -1 for a seat that does not wait) and goes on to the next decision. Throws
    // std::invalid_argument, and then has changed nothing, unless every seat that waits has one it can reach.
    void place(const PlacementId *placements, const bool *mask, uint8_t *waiting);

    // Copies a game, and what is left of its scripts.
    void copy(int source, int target);
    // Forgets the scripts under way: the game is another one now, or somebody else has the pads.
    void forget_plans(int game);

  private:
    struct Lane {  // a game's plans, one per seat
        Plan plans[2];
    };
    Lane &lane(int game);
    void finish(int game, uint8_t *waiting);

    int count_;
    int threads_;
    std::unique_ptr<Ram[]> rams_;
    std::vector<std::unique_ptr<Lane>> lanes_;  // made when first used: only two-player games keep them between calls
    nes::ThreadPool pool_;
    std::atomic<bool> running_{false};
};

}  // namespace drmario
