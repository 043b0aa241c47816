#include "screen.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "palette.hpp"

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
        throw std::invalid_argument("size must be between 1x1 and the cropped picture: the screen is only ever reduced");
    }
    if (config.stack < 1 || config.stack > 64) throw std::invalid_argument("stack must be between 1 and 64");
    rows_ = cells(source_height_, height_);
    columns_ = cells(source_width_, width_);
}

std::vector<ScreenMaker::Cell> ScreenMaker::cells(int source, int target) {
    std::vector<Cell> out;
    for (int i = 0; i < target; ++i) {
        const double from = static_cast<double>(i) * source / target, to = static_cast<double>(i + 1) * source / target;
        Cell cell{static_cast<int>(from), {}};
        int given = 0;
        double covered = 0;
        // Rounding the running sum keeps the weights' total at exactly 256.
        for (int at = cell.first; at < source && at < to - 1e-9; ++at) {
            covered += std::min<double>(to, at + 1) - std::max<double>(from, at);
            const int until = static_cast<int>(std::lround(256 * covered / (to - from)));
            cell.weights.push_back(static_cast<uint16_t>(until - given));
            given = until;
        }
        out.push_back(std::move(cell));
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
            for (size_t x = 0; x < width; ++x, to += 3) std::memcpy(to, colours.rgb[emphasis | from[x]].data(), 3);
        } else {
            const uint8_t *grey = colours.grey.data() + emphasis;
            for (size_t x = 0; x < width; ++x) to[x] = grey[from[x]];
            to += width;
        }
    }
}

void ScreenMaker::pool(const Picture &picture, std::vector<uint8_t> &in_out) const {
    thread_local std::vector<uint8_t> other;
    convert(picture, other);
    uint8_t *a = in_out.data();
    const uint8_t *b = other.data();
    for (size_t i = 0; i < in_out.size(); ++i) a[i] = std::max(a[i], b[i]);
}

void ScreenMaker::resize(const std::vector<uint8_t> &converted, uint8_t *out) const {
    if (height_ == source_height_ && width_ == source_width_) {
        std::memcpy(out, converted.data(), converted.size());
        return;
    }
    const size_t channels = static_cast<size_t>(this->channels());
    const size_t stride = static_cast<size_t>(source_width_) * channels;
    thread_local std::vector<uint16_t> sums;
    sums.resize(stride);
    for (int y = 0; y < height_; ++y) {
        // Down the rows first: sums are 8.8 fixed point and fit 16 bits because the weights total 256.
        const Cell &row = rows_[static_cast<size_t>(y)];
        uint16_t *sum = sums.data();
        std::fill(sums.begin(), sums.end(), uint16_t{0});
        for (size_t k = 0; k < row.weights.size(); ++k) {
            const uint8_t *from = converted.data() + (static_cast<size_t>(row.first) + k) * stride;
            const uint16_t weight = row.weights[k];
            for (size_t x = 0; x < stride; ++x) sum[x] = static_cast<uint16_t>(sum[x] + from[x] * weight);
        }
        for (const Cell &column : columns_) {
            for (size_t c = 0; c < channels; ++c) {
                const uint16_t *from = sum + static_cast<size_t>(column.first) * channels + c;
                uint32_t total = 1u << 15;
                for (size_t k = 0; k < column.weights.size(); ++k) total += from[k * channels] * column.weights[k];
                *out++ = static_cast<uint8_t>(total >> 16);
            }
        }
    }
}

}  // namespace nes
