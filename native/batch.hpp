// Many consoles of one cartridge, stepped together on a pool of threads.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "console.hpp"
#include "screen.hpp"
#include "thread_pool.hpp"

namespace nes {

enum class ScreenUse { off, draw, push, replace, fill };

class Batch {
  public:
    Batch(std::shared_ptr<const Rom> rom, int lanes, int threads, bool optimised);

    int lanes() const { return static_cast<int>(consoles_.size()); }
    int threads() const { return threads_; }
    Console &console(int lane) { return *consoles_[static_cast<size_t>(lane)]; }
    State *states() { return states_.get(); }

    bool stepping() const { return stepping_.load(); }

    // pads: lanes x 2; frames: one count per lane; mask: nullptr for all.
    void step(const uint8_t *pads, const int32_t *frames, const bool *mask, ScreenUse use);

    void configure_screen(const ScreenConfig &config);
    const ScreenMaker *screen() const { return screen_.get(); }
    uint8_t *screens() { return screens_.data(); }

  private:
    void step_lane(int lane, const uint8_t *pads, int frames, ScreenUse use);

    std::shared_ptr<const Rom> rom_;
    int threads_;
    std::unique_ptr<State[]> states_;
    std::vector<std::unique_ptr<Console>> consoles_;
    std::unique_ptr<ScreenMaker> screen_;
    std::vector<uint8_t> screens_;
    std::unique_ptr<ThreadPool> pool_;
    std::atomic<bool> stepping_{false};
};

}  // namespace nes
