#include "batch.hpp"

#include <cstring>
#include <stdexcept>

namespace nes {

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
