#include "palette.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nes {
namespace {

// Composite levels in volts relative to sync, from the 2C02: low and high of the wave for the four brightness rows.
constexpr double kLow[4] = {0.228, 0.312, 0.552, 0.880};
constexpr double kHigh[4] = {0.616, 0.840, 1.100, 1.100};
constexpr double kBlack = 0.312, kWhite = 1.100;
constexpr double kAttenuation = 0.816328;
constexpr int kPhases = 12;
constexpr double kHue = 4.3;         // phases from colour 0 to the colour burst, tint knob included
constexpr double kSaturation = 1.7;  // 2 is the bare demodulation, which over-saturates RGB screens
constexpr double kPi = 3.14159265358979323846;

bool in_phase(int colour, int phase) {
    return (colour + phase) % kPhases < 6;
}

Palette build() {
    Palette out{};
    for (int index = 0; index < 512; ++index) {
        const int hue = index & 0x0F, emphasis = index >> 6;
        const int level = hue >= 14 ? 1 : index >> 4 & 3;
        double low = kLow[level], high = kHigh[level];
        if (hue == 0) low = high;
        if (hue >= 13) high = low;
        double y = 0, i = 0, q = 0;
        for (int phase = 0; phase < kPhases; ++phase) {
            double signal = in_phase(hue, phase) ? high : low;
            const bool dimmed = ((emphasis & 1) && in_phase(0, phase)) || ((emphasis & 2) && in_phase(4, phase)) ||
                                ((emphasis & 4) && in_phase(8, phase));
            if (dimmed && hue < 14) signal *= kAttenuation;
            signal = (signal - kBlack) / (kWhite - kBlack);
            const double angle = 2 * kPi * (phase + kHue) / kPhases;
            y += signal / kPhases;
            i += kSaturation * signal * std::cos(angle) / kPhases;
            q += kSaturation * signal * std::sin(angle) / kPhases;
        }
        const double rgb[3] = {y + 0.956 * i + 0.619 * q, y - 0.272 * i - 0.647 * q, y - 1.106 * i + 1.703 * q};
        const size_t at = static_cast<size_t>(index);
        for (size_t c = 0; c < 3; ++c) {
            out.rgb[at][c] = static_cast<uint8_t>(std::lround(255 * std::clamp(rgb[c], 0.0, 1.0)));
        }
        const uint8_t bytes[4] = {out.rgb[at][0], out.rgb[at][1], out.rgb[at][2], 0};
        std::memcpy(&out.words[at], bytes, sizeof bytes);
        out.grey[at] =
            static_cast<uint8_t>(std::lround(0.299 * out.rgb[at][0] + 0.587 * out.rgb[at][1] + 0.114 * out.rgb[at][2]));
    }
    return out;
}

}  // namespace

const Palette &palette() {
    static const Palette instance = build();
    return instance;
}

}  // namespace nes
