#include "screen.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "palette.hpp"
#include "pixels.hpp"

namespace nes {

ScreenMaker::ScreenMaker(const ScreenConfig &config) : config_(config) {
    source_height_ = kHeight - config.top - config.bottom;
    source_width_ = kWidth - config.left - config.right;
    if (config.top < 0 || config.bottom < 0 || config.left < 0 || config.right < 0 || source_height_ < 1 ||
        source_width_ < 1) {
        throw std::invalid_argument("crop must leave a part of the 240x256 picture");
    }
    height_ = config.height ? config.height : source_height_;
    width_ = config.width ? config.width : source_width_;
    if (height_ < 1 || width_ < 1 || height_ > source_height_ || width_ > source_width_) {
        throw std::invalid_argument(
            "size must be between 1x1 and the cropped picture: the screen is only ever reduced");
    }
    if (config.stack < 1 || config.stack > 64) throw std::invalid_argument("stack must be between 1 and 64");
    rows_ = cells(source_height_, height_);
    columns_ = cells(source_width_, width_);
    if (columns_.taps <= 8) {
        for (int x = 0; x < width_; ++x) {
            for (int k = 0; k < 8; ++k) {
                const size_t at = static_cast<size_t>(x * columns_.taps + k);
                column_weights8_.push_back(k < columns_.taps ? static_cast<int16_t>(columns_.weights[at]) : int16_t{0});
            }
        }
    }
}

ScreenMaker::Cells ScreenMaker::cells(int source, int target) {
    Cells out;
    out.taps = source / target + 2;
    for (int i = 0; i < target; ++i) {
        const double from = static_cast<double>(i) * source / target, to = static_cast<double>(i + 1) * source / target;
        out.first.push_back(static_cast<int>(from + 1e-9));
        int given = 0;
        double covered = 0;
        // Rounding the running sum keeps the weights' total at exactly 256.
        for (int k = 0; k < out.taps; ++k) {
            const int at = out.first.back() + k;
            covered += std::max(0.0, std::min<double>(to, at + 1) - std::max<double>(from, at));
            const int until = static_cast<int>(std::lround(256 * covered / (to - from)));
            out.weights.push_back(static_cast<uint16_t>(until - given));
            given = until;
        }
    }
    return out;
}

void ScreenMaker::convert(const Picture &picture, std::vector<uint8_t> &out) const {
    const Palette &colours = palette();
    const size_t width = static_cast<size_t>(source_width_), channels = static_cast<size_t>(this->channels());
    out.resize(static_cast<size_t>(source_height_) * width * channels);
    uint8_t *to = out.data();
    for (int y = 0; y < source_height_; ++y) {
        const uint8_t *from = picture.pixels[y + config_.top] + config_.left;
        const size_t emphasis = static_cast<size_t>(picture.emphasis[y + config_.top]) << 6;
        if (config_.rgb) {
            map_rgb(from, to, width, colours.words.data() + emphasis);
            to += 3 * width;
        } else {
            map64(from, to, width, colours.grey.data() + emphasis);
            to += width;
        }
    }
}

void ScreenMaker::pool(const Picture &picture, std::vector<uint8_t> &in_out, std::vector<uint8_t> &scratch) const {
    convert(picture, scratch);
    take_brighter(in_out.data(), scratch.data(), in_out.size());
}

void ScreenMaker::resize(const std::vector<uint8_t> &converted, uint8_t *out) const {
    if (height_ == source_height_ && width_ == source_width_) {
        std::memcpy(out, converted.data(), converted.size());
        return;
    }
    const size_t channels = static_cast<size_t>(this->channels());
    const size_t stride = static_cast<size_t>(source_width_) * channels;
    // Room after the row lets every column read the same number of taps; the weights there are 0.
    uint16_t sum[2 * (kWidth + 2) * 3] = {};
    for (int y = 0; y < height_; ++y) {
        // Down the rows first: sums are 8.8 fixed point and fit 16 bits because the weights total 256.
        const Cells &rows = rows_;
        const uint8_t *from = converted.data() + static_cast<size_t>(rows.first[static_cast<size_t>(y)]) * stride;
        const uint16_t *weights = rows.weights.data() + static_cast<size_t>(y * rows.taps);
        weigh(sum, from, stride, weights[0]);
        for (int k = 1; k < rows.taps && weights[k]; ++k) {
            add_weighed(sum, from + static_cast<size_t>(k) * stride, stride, weights[k]);
        }
        if (channels == 1 && !column_weights8_.empty()) {
            reduce_row(sum, columns_.first.data(), column_weights8_.data(), static_cast<size_t>(width_), out);
            out += width_;
            continue;
        }
        const uint16_t *column_weights = columns_.weights.data();
        for (int x = 0; x < width_; ++x, column_weights += columns_.taps) {
            for (size_t c = 0; c < channels; ++c) {
                const uint16_t *at = sum + static_cast<size_t>(columns_.first[static_cast<size_t>(x)]) * channels + c;
                uint32_t total = 1u << 15;
                for (int k = 0; k < columns_.taps; ++k) {
                    total += at[static_cast<size_t>(k) * channels] * column_weights[k];
                }
                *out++ = static_cast<uint8_t>(total >> 16);
            }
        }
    }
}

}  // namespace nes
