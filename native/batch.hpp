// Many consoles of one cartridge, stepped together on a pool of threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "console.hpp"
#include "screen.hpp"

namespace nes {

// Runs one function over lanes 0..n-1; the calling thread works too.
//
// Every thread has a block of lanes of its own, so that a lane's memory stays in the cache of one core, and helps the
// others when it is done. Between two jobs a worker spins for a moment, then sleeps: a vector step should not have to
// wait until it has woken up.
class ThreadPool {
  public:
    explicit ThreadPool(int threads);
    ~ThreadPool();
    void run(int lanes, const std::function<void(int)> &work);

  private:
    struct alignas(64) Block {
        std::atomic<int> next{0};
        int end = 0;
    };

    void worker(size_t self);
    void take_lanes(size_t self);
    bool wait_for_job(uint64_t seen);

    std::unique_ptr<Block[]> blocks_;
    size_t block_count_;
    int spins_;  // 0 where threads outnumber cores: there a spinning thread keeps others from working
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<uint64_t> job_{0};
    std::atomic<int> busy_{0};
    std::atomic<bool> stop_{false};
    const std::function<void(int)> *work_ = nullptr;
};

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
