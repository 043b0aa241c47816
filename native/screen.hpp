// What an agent sees of a picture: grey or RGB, cropped, area-resized, max-pooled over two frames, stacked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "console.hpp"

namespace nes {

struct ScreenConfig {
    bool rgb = false;
    int top = 0, bottom = 0, left = 0, right = 0;  // pixels cut off
    int height = 0, width = 0;                     // 0: as cropped
    int stack = 1;
    bool max_pool = false;
};

// Turns pictures into observation frames. Immutable, so lanes on several threads share one.
class ScreenMaker {
  public:
    explicit ScreenMaker(const ScreenConfig &config);  // throws std::invalid_argument

    const ScreenConfig &config() const { return config_; }
    int height() const { return height_; }
    int width() const { return width_; }
    int channels() const { return config_.rgb ? 3 : 1; }
    size_t frame_size() const { return static_cast<size_t>(height_ * width_ * channels()); }

    // The cropped picture in grey or RGB, full size; and the pixelwise maximum of one more.
    void convert(const Picture &picture, std::vector<uint8_t> &out) const;
    void pool(const Picture &picture, std::vector<uint8_t> &in_out, std::vector<uint8_t> &scratch) const;
    // The converted picture, area-averaged to the wanted size.
    void resize(const std::vector<uint8_t> &converted, uint8_t *out) const;

  private:
    // Which source rows (or columns) each target cell covers: `taps` weights from `first` on, in 256ths.
    struct Cells {
        int taps = 0;
        std::vector<int> first;
        std::vector<uint16_t> weights;
    };
    static Cells cells(int source, int target);

    ScreenConfig config_;
    int source_height_, source_width_, height_, width_;
    Cells rows_, columns_;
    std::vector<int16_t> column_weights8_;  // the columns' weights as reduce_row wants them, if they fit
};

}  // namespace nes
