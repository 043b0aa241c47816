// One NES: CPU, PPU, APU, pads and cartridge around a flat State.
//
// Event-driven: the CPU runs instruction by instruction; the PPU and the APU are brought up to date only when a
// program could notice (a register access) or when they are due to interrupt. cpu.cpp has the interpreter, ppu.cpp the
// picture unit's timing, ppu_registers.cpp what the CPU sees of it, draw.cpp its pixels, sprites.cpp which sprites are
// where, apu.cpp, mapper.cpp, dma.cpp and bus.cpp the rest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rom.hpp"
#include "state.hpp"

namespace nes {

struct StateError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr int kWidth = 256;
constexpr int kHeight = 240;
constexpr int kDotsPerLine = 341;
constexpr int kLastVisibleDot = 240 * kDotsPerLine - 1;
constexpr int kVblankDot = 241 * kDotsPerLine + 1;
constexpr int kPreRenderDot = 261 * kDotsPerLine;
constexpr int kDotsPerFrame = 262 * kDotsPerLine;

// One picture: NES palette indices (0-63), and each line's colour emphasis (mask bits 5-7, 0-7).
struct Picture {
    uint8_t pixels[kHeight][kWidth];
    uint8_t emphasis[kHeight];
};

class Console {
  public:
    // `state` is owned by the caller (a batch keeps its lanes' states side by side) and must outlive the console.
    Console(const Rom &rom, State &state, bool optimised);
    Console(const Console &) = delete;

    void power();
    void reset();
    // Runs one frame: up to the first instruction boundary at or after the start of vblank.
    void run_frame(uint8_t pad1, uint8_t pad2, bool draw);

    std::vector<uint8_t> save() const;
    void check(const uint8_t *data, size_t size) const;
    void load(const uint8_t *data, size_t size);  // throws StateError and changes nothing on a bad state
    void copy_from(const Console &other);

    uint8_t peek(uint16_t address) const;  // no side effects; open bus and registers read as 0
    void poke(uint16_t address, uint8_t value);

    const Picture *picture() const { return picture_.get(); }
    const State &state() const { return s; }

  private:
    // cpu.cpp
    void run();
    void update_attention();
    uint64_t irq_since() const;

    // dma.cpp
    uint64_t run_dma(uint64_t cycle);

    // idle.cpp
    bool poll_would_loop(const IdlePoll &poll, uint8_t value, uint8_t a, uint8_t x, uint8_t y, unsigned c,
                         unsigned v) const;
    uint64_t idle_turns(const IdlePoll &poll, uint64_t cycle, uint8_t a, uint8_t x, uint8_t y, unsigned c, unsigned v);

    // bus.cpp: accesses that are neither RAM nor PRG ROM reads. `n` is the cycle of the access.
    uint8_t bus_read(uint16_t address, uint64_t n);
    void bus_write(uint16_t address, uint8_t value, uint64_t n);
    uint8_t read_any(uint16_t address, uint64_t n);
    uint64_t settle_dmc(uint64_t n);

    // ppu.cpp
    void ppu_sync(uint64_t tick);
    void run_dots(int target);
    bool skip_lines(int line, int end);
    void run_visible_line(int line, int first, int last);
    void run_pre_render(int first, int last);
    uint8_t ppu_read(uint16_t address, uint64_t n);
    void ppu_write(uint16_t address, uint8_t value, uint64_t n);
    uint8_t read_status(uint64_t n);
    uint8_t read_data(uint64_t n);
    void write_ctrl(uint8_t value, uint64_t n);
    void write_mask(uint8_t value, uint64_t n);
    void advance_address();
    void drop_nmi_line(uint64_t n);
    bool blanked() const;
    uint64_t next_status_change() const;
    uint64_t ppu_event_tick() const;
    void refresh_latch(uint8_t value, int groups);
    uint8_t decayed_latch();

    // sprites.cpp: sprite evaluation
    struct Evaluation {
        int count = 0;         // sprites found (at most 8)
        bool sprite0 = false;  // the first of them is sprite 0
        int overflow_x = 0;    // dot at which the overflow flag rises; 0 = it does not
        uint8_t address = 0;   // OAM address when `until` was reached
        uint8_t entries[8][4] = {};
    };
    Evaluation evaluate_sprites(int line, uint8_t start, int until) const;
    int sprites_in_range(int line) const;
    int crowded_line(int line) const;
    bool line_may_overflow(int line) const { return sprites_in_range(line) >= 8; }
    int sprite_height() const { return s.ctrl & 0x20 ? 16 : 8; }
    int predict_sprite0_hit(int line, uint16_t v, int from_x) const;

    // draw.cpp
    uint8_t vram_read(uint16_t address) const;
    void vram_write(uint16_t address, uint8_t value);
    uint8_t chr_read(uint16_t address) const { return chr_[address >> 10][address & 0x3FF]; }
    uint64_t tile_row(uint16_t v) const;
    uint64_t sprite_row(const uint8_t *sprite, int line) const;
    void draw_whole_line(int line);
    void draw_span(int line, int first, int last);
    void fetch_line_tiles(uint16_t v, int count);
    void fetch_whole_line(uint16_t v);
    void begin_line(int line);
    void compose(int line, int from, int to);
    void draw_blank(int line, int from, int to);

    // apu.cpp
    void apu_power();
    void apu_reset();
    void apu_sync(uint64_t n);
    uint8_t apu_read_status(uint64_t n);
    void apu_write(uint16_t address, uint8_t value, uint64_t n);
    void clock_lengths();
    void predict_frame_irq();
    uint64_t dmc_fetch_cycle() const;  // cycle at which the DMC, while it plays, takes the bus next
    void dmc_advance(uint64_t n);
    void dmc_take_byte(uint64_t n, int stall);
    void withdraw_irq(uint64_t n);

    // mapper.cpp
    void map_banks();
    void mapper_write(uint16_t address, uint8_t value, uint64_t n);
    void a12_access(uint16_t address, uint64_t tick);
    void clock_irq_counter(uint64_t tick);
    void a12_line(int line, int first, int last);
    int next_a12_event(int line, int x) const;

    State &s;
    const Rom &rom_;
    const Program &program_;

    uint64_t attention_ = 0;      // first cycle count at which an instruction boundary needs a look
    bool remapped_ = false;       // PRG banks changed under the running instruction
    uint8_t running_opcode_ = 0;  // the opcode under way, known while a DMC fetch is near

    // Derived from the state.
    const uint8_t *prg_[4] = {};  // 8 KB windows at $8000, $A000, $C000, $E000
    const Op *ops_[4] = {};
    const uint8_t *chr_[8] = {};  // 1 KB windows
    uint8_t *nametable_[4] = {};

    mutable bool line_counts_valid_ = false;
    mutable bool any_crowded_line_ = false;
    mutable uint8_t line_counts_[256 + 16] = {};

    Op slow_code_[320];  // one instruction fetched through the bus, surrounded by `resync`

    bool drawing_ = false;
    std::unique_ptr<Picture> picture_;
    struct Line {
        int tiles = 0;                       // background tiles fetched so far
        alignas(8) uint8_t background[288];  // palette entry 0-15 per pixel, 0 = transparent
        alignas(8) uint8_t sprites[264];     // bit 7 behind background, bit 6 sprite 0, low 5 bits palette entry
        bool any_sprites = false;
        uint32_t row_key = 0;  // the tile row that row_* describe; 0 = none
        uint16_t row_patterns[33];
        uint8_t row_palettes[33];
    } line_;
};

}  // namespace nes
