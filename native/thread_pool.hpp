// Threads that share the lanes of a batch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

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

}  // namespace nes
