// Which bytes of a console's RAM are the game, and whether they can be one.
#pragma once

#include <stdexcept>
#include <string>

#include "ram.hpp"

namespace drmario {

// Bytes that are not the RAM of a game; the message says what is wrong with them.
struct StateError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

struct AddressRange {
    uint16_t first, last;
};
// The bytes that count: everything else of the console's RAM belongs to sound, pictures and scratch.
constexpr AddressRange kImage[] = {{0x17, 0x18},   {0x43, 0x43},   {0x46, 0x46},   {0x51, 0x51},   {0x55, 0x55},
                                   {0x59, 0x59},   {0x61, 0x61},   {0x7D, 0x7D},   {0xF5, 0xF8},   {0x300, 0x32F},
                                   {0x380, 0x3AF}, {0x400, 0x5FF}, {0x68D, 0x68D}, {0x725, 0x725}, {0x727, 0x727},
                                   {0x729, 0x72E}, {0x741, 0x741}, {0x780, 0x7FF}};

// Throws StateError unless every byte that counts has a value that the rules can bring about.
void check_state(const Ram &ram);

// The game in a console's RAM, with zero everywhere else; throws StateError.
Ram from_console(const uint8_t console_ram[kRamSize]);

}  // namespace drmario
