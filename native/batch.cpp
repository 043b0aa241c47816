#include "batch.hpp"

#include <cstring>
#include <stdexcept>

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

Batch::Batch(std::shared_ptr<const Rom> rom, int lanes, int threads, bool optimised)
    : rom_(std::move(rom)), threads_(threads) {
    if (lanes < 1 || lanes > 65536) throw std::invalid_argument("lanes must be between 1 and 65536");
    if (threads < 1 || threads > 256) throw std::invalid_argument("threads must be between 1 and 256");
    states_ = std::make_unique<State[]>(static_cast<size_t>(lanes));
    for (int i = 0; i < lanes; ++i) {
        consoles_.push_back(std::make_unique<Console>(*rom_, states_[static_cast<size_t>(i)], optimised));
    }
    pool_ = std::make_unique<ThreadPool>(threads < lanes ? threads : lanes);
}

void Batch::configure_screen(const ScreenConfig &config) {
    auto screen = std::make_unique<ScreenMaker>(config);
    screens_.assign(screen->frame_size() * static_cast<size_t>(config.stack) * consoles_.size(), 0);
    screen_ = std::move(screen);
}

void Batch::step(const uint8_t *pads, const int32_t *frames, const bool *mask, ScreenUse use) {
    if (use >= ScreenUse::push && !screen_) throw std::invalid_argument("call configure_screen first");
    for (int i = 0; i < lanes(); ++i) {
        if (frames[i] < 0) throw std::invalid_argument("frames must not be negative");
    }
    stepping_ = true;
    pool_->run(lanes(), [&](int lane) {
        if ((!mask || mask[lane]) && frames[lane] > 0) step_lane(lane, pads + 2 * lane, frames[lane], use);
    });
    stepping_ = false;
}

void Batch::step_lane(int lane, const uint8_t *pads, int frames, ScreenUse use) {
    Console &console = *consoles_[static_cast<size_t>(lane)];
    thread_local std::vector<uint8_t> views[2];
    std::vector<uint8_t> &view = views[0], &scratch = views[1];
    const bool processed = use >= ScreenUse::push;
    const bool pooled = processed && screen_->config().max_pool && frames > 1;
    for (int i = 0; i < frames; ++i) {
        const bool last = i == frames - 1;
        const bool draw = use != ScreenUse::off && (last || (pooled && i == frames - 2));
        console.run_frame(pads[0], pads[1], draw);
        if (!draw || !processed) continue;
        if (last && pooled) {
            screen_->pool(*console.picture(), view, scratch);
        } else {
            screen_->convert(*console.picture(), view);
        }
    }
    if (!processed) return;
    const size_t size = screen_->frame_size(), depth = static_cast<size_t>(screen_->config().stack);
    uint8_t *stack = screens_.data() + static_cast<size_t>(lane) * depth * size;
    uint8_t *newest = stack + (depth - 1) * size;
    if (use == ScreenUse::push) std::memmove(stack, stack + size, (depth - 1) * size);
    screen_->resize(view, newest);
    if (use == ScreenUse::fill) {
        for (size_t i = 0; i + 1 < depth; ++i) std::memcpy(stack + i * size, newest, size);
    }
}

}  // namespace nes
