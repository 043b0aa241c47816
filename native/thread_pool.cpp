#include "thread_pool.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nes {
namespace {

// Pauses of a waiting thread before it sleeps: about a millisecond, longer than the gap between the steps of a busy
// learner. A pause leaves the core's resources to its other hardware thread.
constexpr int kSpins = 60000;

void relax() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : blocks_(std::make_unique<Block[]>(static_cast<size_t>(threads))),
      block_count_(static_cast<size_t>(threads)),
      spins_(static_cast<unsigned>(threads) <= std::thread::hardware_concurrency() ? kSpins : 0) {
    for (size_t self = 1; self < block_count_; ++self) threads_.emplace_back([this, self] { worker(self); });
}

ThreadPool::~ThreadPool() {
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
        ++job_;
    }
    wake_.notify_all();
    for (std::thread &thread : threads_) thread.join();
}

// The lanes of one's own block, then what is left of the others'.
void ThreadPool::take_lanes(size_t self) {
    for (size_t i = 0; i < block_count_; ++i) {
        Block &block = blocks_[(self + i) % block_count_];
        for (int lane; (lane = block.next.fetch_add(1)) < block.end;) (*work_)(lane);
    }
}

void ThreadPool::run(int lanes, const std::function<void(int)> &work) {
    work_ = &work;
    const int blocks = static_cast<int>(block_count_);
    for (int i = 0; i < blocks; ++i) {
        blocks_[static_cast<size_t>(i)].next = lanes * i / blocks;
        blocks_[static_cast<size_t>(i)].end = lanes * (i + 1) / blocks;
    }
    if (threads_.empty()) {
        take_lanes(0);
        return;
    }
    busy_ = static_cast<int>(threads_.size());
    {
        std::lock_guard lock(mutex_);
        ++job_;
    }
    wake_.notify_all();
    take_lanes(0);
    // Spin while the others finish their last lane; give way if one of them lost its CPU.
    for (int i = 0; busy_.load() > 0; ++i) {
        if (i < spins_) {
            relax();
        } else {
            std::this_thread::yield();
        }
    }
}

void ThreadPool::worker(size_t self) {
    uint64_t seen = 0;
    for (;;) {
        if (!wait_for_job(seen)) {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return job_.load() != seen; });
        }
        seen = job_.load();
        if (stop_) return;
        take_lanes(self);
        --busy_;
    }
}

// Awake for a while; false if nothing came.
bool ThreadPool::wait_for_job(uint64_t seen) {
    for (int i = 0; i < spins_; ++i) {
        if (job_.load() != seen) return true;
        relax();
    }
    return job_.load() != seen;
}

}  // namespace nes
