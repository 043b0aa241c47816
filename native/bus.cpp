// The CPU bus outside RAM and PRG ROM: registers, pads, cartridge RAM, mapper.
#include "console.hpp"

namespace nes {

// If the DMC took the bus at or before cycle `n` of the instruction under way, everything from there on is later by
// 4 cycles, or 3 if it met a write. `s.cycle` is the instruction's end. Returns when the access really happens.
uint64_t Console::settle_dmc(uint64_t n) {
    if (!s.dmc_remaining) return n;
    const uint64_t fetch = dmc_fetch_cycle();
    if (fetch > n) return n;
    const bool in_write = fetch < s.cycle && (kOpcodes[running_opcode_].writes >> (s.cycle - 1 - fetch) & 1);
    const int stall = in_write ? 3 : 4;
    dmc_take_byte(fetch, stall);
    s.cycle += static_cast<uint64_t>(stall);
    return n + static_cast<uint64_t>(stall);
}

uint8_t Console::read_any(uint16_t address, uint64_t n) {
    if (address < 0x2000) return s.open_bus = s.ram[address & 0x7FF];
    if (address >= 0x8000) return s.open_bus = prg_[address >> 13 & 3][address & 0x1FFF];
    return bus_read(address, n);
}

uint8_t Console::bus_read(uint16_t address, uint64_t n) {
    n = settle_dmc(n);
    uint8_t value = s.open_bus;
    if (address < 0x4000) {
        value = ppu_read(address, n);
    } else if (address == 0x4015) {
        value = apu_read_status(n);
    } else if (address == 0x4016 || address == 0x4017) {
        // The pad drives the low bits only; the rest is what was on the bus.
        uint8_t &shift = s.pad_shift[address & 1];
        if (s.pad_strobe) shift = s.pads[address & 1];
        value = static_cast<uint8_t>((s.open_bus & 0xE0) | shift >> 7);
        if (!s.pad_strobe) shift = static_cast<uint8_t>(shift << 1 | 1);  // after eight buttons: ones
    } else if (address >= 0x6000) {
        value = s.prg_ram[address & 0x1FFF];
    }
    return s.open_bus = value;
}

void Console::bus_write(uint16_t address, uint8_t value, uint64_t n) {
    n = settle_dmc(n);
    s.open_bus = value;
    if (address < 0x4000) {
        ppu_write(address, value, n);
    } else if (address == 0x4014) {
        s.dma_pending = 1;
        s.dma_page = value;
        attention_ = s.cycle;
    } else if (address == 0x4016) {
        // While the strobe is high the pads are latched again and again; the falling edge keeps what was held.
        if (s.pad_strobe) {
            s.pad_shift[0] = s.pads[0];
            s.pad_shift[1] = s.pads[1];
        }
        s.pad_strobe = value & 1;
    } else if (address < 0x4018) {
        apu_write(address, value, n);
        update_attention();
    } else if (address >= 0x8000) {
        mapper_write(address, value, n);
    } else if (address >= 0x6000 && !s.mapper_ram_protect) {
        s.prg_ram[address & 0x1FFF] = value;
        s.prg_ram_used = 1;
    }
}

uint8_t Console::peek(uint16_t address) const {
    if (address < 0x2000) return s.ram[address & 0x7FF];
    if (address >= 0x8000) return prg_[address >> 13 & 3][address & 0x1FFF];
    if (address >= 0x6000) return s.prg_ram[address & 0x1FFF];
    return 0;
}

void Console::poke(uint16_t address, uint8_t value) {
    if (address < 0x2000) {
        s.ram[address & 0x7FF] = value;
    } else if (address >= 0x6000 && address < 0x8000) {
        s.prg_ram[address & 0x1FFF] = value;
        s.prg_ram_used = 1;
    }
}

}  // namespace nes
