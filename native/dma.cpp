// Bus cycles the CPU loses: sprite DMA, and the DMC fetches that fall into it.
#include "console.hpp"

namespace nes {

// OAM DMA of a page: one or two idle cycles, then 256 reads and writes to $2004. Returns the cycle after it.
uint64_t Console::run_dma(uint64_t cycle) {
    s.dma_pending = 0;
    const uint64_t start = cycle + ((cycle + s.parity) & 1 ? 1 : 2);
    uint64_t n = start;
    const uint16_t page = static_cast<uint16_t>(s.dma_page << 8);
    const uint64_t end = start + 512;
    const uint64_t fetch = s.dmc_remaining ? dmc_fetch_cycle() : kNever;
    const bool plain_source = page < 0x2000 || page >= 0x8000;
    ppu_sync(3 * cycle);
    // The common case: in vblank or with rendering off nothing sees the bytes go by.
    const bool quiet = !s.rendering || (s.dot > kLastVisibleDot && s.frame_tick0 + kPreRenderDot > 3 * end);
    if (plain_source && quiet && fetch >= end) {
        line_counts_valid_ = false;
        const uint8_t *source = page < 0x2000 ? s.ram + (page & 0x700) : &prg_[page >> 13 & 3][page & 0x1FFF];
        for (int i = 0; i < 256; ++i) {
            const uint8_t to = static_cast<uint8_t>(s.oam_address + i);
            s.oam[to] = (to & 3) == 2 ? source[i] & 0xE3 : source[i];
        }
        s.cycle = end;
        refresh_latch(source[255], 7);
        s.open_bus = source[255];
        return end;
    }
    // Exact: byte by byte, with a DMC fetch in between where it falls (it takes 2 cycles, near the end 1 or 3).
    uint64_t due = fetch;
    auto stall_before = [&](uint64_t cycle_of_access, int cost) {
        if (due <= cycle_of_access) {
            s.cycle = n;
            dmc_take_byte(due, cost);
            n += static_cast<uint64_t>(cost);
            due = s.dmc_remaining ? dmc_fetch_cycle() : kNever;
        }
    };
    n = cycle;
    for (uint64_t idle = start - cycle; idle > 0; --idle) {
        stall_before(n, 2);
        ++n;
    }
    for (int i = 0; i < 256; ++i) {
        stall_before(n, 2);
        s.cycle = n;
        const uint8_t value = read_any(static_cast<uint16_t>(page + i), n);
        ++n;
        stall_before(n, i == 254 ? 1 : i == 255 ? 3 : 2);
        ppu_write(0x2004, value, n);
        s.open_bus = value;
        ++n;
    }
    return n;
}

}  // namespace nes
