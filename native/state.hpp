// Everything a console remembers, as one flat struct: saving is copying.
//
// Time is counted in CPU cycles since power-on. Cycle n runs the PPU's ticks 3n+1, 3n+2, then the CPU's bus access, then
// tick 3n+3, then the CPU samples its interrupt lines. One PPU tick draws one dot; a frame is 341 x 262 of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace nes {

constexpr uint64_t kNever = ~0ull >> 1;

struct State {
    uint8_t ram[0x800];

    // CPU, between two instructions.
    uint64_t cycle;  // cycles run so far
    uint16_t pc;
    uint8_t a, x, y, s, p;
    uint8_t open_bus;     // last value seen on the CPU's data bus where it can matter
    uint8_t dma_pending;  // $4014 was written: the DMA runs before the next read cycle
    uint8_t dma_page;

    // Interrupts: the cycle whose sampling point first saw the line, or kNever.
    uint64_t nmi_edge;  // a falling edge not yet served
    uint64_t mapper_irq_since;
    uint64_t dmc_irq_since;
    uint64_t frame_irq_since;  // may lie in the future: the APU knows when its flag will rise
    uint64_t irq_latch;        // an IRQ sampled at this cycle was withdrawn afterwards, and is still served; 0 = none
    uint8_t nmi_line;

    // PPU.
    uint64_t frames;       // frames finished: vblank starts seen
    uint64_t frame_tick0;  // the tick that draws dot (0, 0) of the current frame
    int32_t dot;  // ticks of this frame already run, as index line * 341 + x of the last one; -1 before the first
    uint16_t v, t;
    uint8_t fine_x, write_toggle;
    uint8_t ctrl, mask;
    uint8_t rendering;  // background or sprites on; follows `mask` one tick later
    uint8_t vblank, sprite0_hit, overflow;
    uint8_t suppress_vblank;
    uint8_t odd_frame;
    uint8_t frame_ready;
    uint8_t sprites_ready;  // the line before this one evaluated sprites
    uint8_t oam_address;
    uint8_t read_buffer;
    uint8_t latch;  // last value on the PPU's own data bus
    uint32_t ppu_frames;
    uint32_t latch_frame[3];   // frame in which bits 7-6, 5, 4-0 of the latch were refreshed: they decay
    uint64_t data_read_cycle;  // last $2007 read: another one in the next cycle is ignored

    // APU, as far as a program can see it.
    int64_t apu_cycle;        // the frame counter is up to date with the tick of this cycle; -1 before the first
    uint8_t parity;           // cycles n with n + parity even start a get/put pair of the APU's half-rate clock
    int64_t frame_zero;       // the frame counter's clock after the tick of cycle n is n - frame_zero
    uint64_t frame_reset_at;  // cycle whose tick resets the clock after a $4017 write, or kNever
    uint8_t frame_mode;       // 0: 4 steps with IRQ, 1: 5 steps
    uint8_t frame_inhibit;
    uint8_t length[4], length_enabled[4], length_halt[4];
    uint64_t dmc_timer_at;  // cycle whose tick ends the current DMC bit
    uint16_t dmc_period;
    uint16_t dmc_length;  // bytes of a sample
    uint16_t dmc_remaining;
    uint8_t dmc_bits;  // bits left in the current byte
    uint8_t dmc_loop, dmc_irq_enabled, dmc_buffer_empty;

    // Pads: bit 7 A, 6 B, 5 Select, 4 Start, 3 Up, 2 Down, 1 Left, 0 Right.
    uint8_t pads[2], pad_shift[2], pad_strobe;

    // Mapper.
    uint8_t mapper_register[8];
    uint8_t mapper_shift, mapper_shift_count;  // MMC1
    uint64_t mapper_write_cycle;               // MMC1 ignores the second of two writes in a row
    uint8_t mapper_select, mapper_mirroring, mapper_ram_protect;
    uint8_t irq_counter, irq_reload_value, irq_reload, irq_enabled;  // MMC3
    uint64_t a12_low_tick;  // MMC3: tick at which PPU A12 went low; kNever while it is high

    uint8_t prg_ram_used;
    uint8_t palette[32];
    uint8_t oam[256];
    uint8_t vram[0x800];

    // The tail is copied only where the cartridge has it (or, for PRG RAM, has used it).
    uint8_t prg_ram[0x2000];
    uint8_t four_screen_vram[0x800];
    uint8_t chr_ram[0x2000];
};

static_assert(std::is_trivially_copyable_v<State>);
constexpr size_t kCoreStateSize = offsetof(State, prg_ram);

}  // namespace nes
