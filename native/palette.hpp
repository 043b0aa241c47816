// NES colours as RGB, made from how the PPU makes them: a square wave between two levels, one of 12 phases, decoded as
// NTSC. Colour emphasis attenuates the parts of the wave that are in the dimmed phases.
#pragma once

#include <array>
#include <cstdint>

namespace nes {

struct Palette {
    std::array<std::array<uint8_t, 3>, 512> rgb;  // index: emphasis << 6 | colour
    std::array<uint32_t, 512> words;              // the same three bytes in memory order, and a zero
    std::array<uint8_t, 512> grey;                // Rec. 601 luma of the same
};

const Palette &palette();

}  // namespace nes
