#include "console.hpp"

#include <cstring>

#include "hash.hpp"

namespace nes {
namespace {

constexpr uint32_t kStateMagic = 0x534C524D;  // "MRLS"
constexpr uint32_t kStateVersion = 1;

struct StateHeader {
    uint32_t magic;
    uint32_t version;
    uint64_t rom_hash;
    uint64_t checksum;  // of everything after the header
    uint32_t size;      // of everything after the header
    uint32_t parts;     // which tail parts follow: 1 PRG RAM, 2 four-screen VRAM, 4 CHR RAM
};

// The palette RAM a console is usually found with after power-on (documented by blargg's power_up_palette).
constexpr uint8_t kPowerPalette[32] = {0x09, 0x01, 0x00, 0x01, 0x00, 0x02, 0x02, 0x0D, 0x08, 0x10, 0x08,
                                       0x24, 0x00, 0x00, 0x04, 0x2C, 0x09, 0x01, 0x34, 0x03, 0x00, 0x04,
                                       0x00, 0x14, 0x08, 0x3A, 0x00, 0x02, 0x00, 0x20, 0x2C, 0x08};
constexpr uint64_t kStartCycles = 8;  // the reset sequence before the first instruction

// A state with a right checksum that no console of ours can have written: refuse it rather than run off an array.
bool plausible(const State &s) {
    const auto within = [](uint64_t value, uint64_t of, uint64_t before, uint64_t after) {
        return value - (of - before) <= before + after;  // modulo 2^64
    };
    constexpr uint64_t kFrame = kDotsPerFrame;  // in cycles a generous bound
    // In pieces: the clocks, the PPU, the APU, the cartridge.
    const bool clocks = s.cycle > 0 && s.cycle < 1ull << 60 && s.frame_tick0 <= 3 * s.cycle + 1000 && s.dot >= -1 &&
                        s.dot < kDotsPerFrame &&
                        within(s.frame_tick0 + static_cast<uint64_t>(s.dot + 1), 3 * s.cycle, kFrame, 1000);
    const bool ppu =
        s.v <= 0x7FFF && s.t <= 0x7FFF && s.fine_x <= 7 && s.vblank <= 1 && s.sprite0_hit <= 1 && s.overflow <= 1;
    const bool frame_counter =
        s.frame_mode <= 1 && within(static_cast<uint64_t>(s.apu_cycle), s.cycle, kFrame, 1000) &&
        within(static_cast<uint64_t>(s.frame_zero), static_cast<uint64_t>(s.apu_cycle), kFrame, 1000) &&
        (s.frame_reset_at == kNever || within(s.frame_reset_at, s.cycle, 1000, 1000));
    const bool dmc = s.dmc_bits >= 1 && s.dmc_bits <= 8 && s.dmc_period >= 54 && s.dmc_timer_at < s.cycle + 1000 &&
                     (!s.dmc_remaining || s.dmc_timer_at + (s.dmc_bits - 1u) * s.dmc_period + 1000 > s.cycle);
    return clocks && ppu && frame_counter && dmc && s.mapper_mirroring <= 4;
}

}  // namespace

Console::Console(const Rom &rom, State &state, bool optimised) : s(state), rom_(rom), program_(rom.program(optimised)) {
    for (Op &op : slow_code_) op = {static_cast<uint16_t>(Fn::resync), 0};
    power();
}

void Console::power() {
    std::memset(static_cast<void *>(&s), 0, sizeof s);
    s.s = 0xFD;
    s.p = 0x24;
    s.nmi_edge = s.mapper_irq_since = kNever;
    s.data_read_cycle = s.mapper_write_cycle = kNever;
    s.frame_tick0 = 1;
    s.dot = -1;
    s.odd_frame = 1;
    s.vblank = s.overflow = 1;
    std::memcpy(s.palette, kPowerPalette, sizeof s.palette);
    s.a12_low_tick = kNever;
    const uint8_t mmc3_banks[8] = {0, 2, 4, 5, 6, 7, 0, 1};
    if (rom_.mapper == 4) std::memcpy(s.mapper_register, mmc3_banks, sizeof mmc3_banks);
    if (rom_.mapper == 1) s.mapper_register[0] = 0x0C;
    s.mapper_mirroring = static_cast<uint8_t>(rom_.mirroring);
    apu_power();
    line_counts_valid_ = false;
    map_banks();
    s.cycle = kStartCycles;
    s.pc = static_cast<uint16_t>(peek(0xFFFC) | peek(0xFFFD) << 8);
    remapped_ = false;
}

void Console::reset() {
    ppu_sync(3 * s.cycle);
    s.s = static_cast<uint8_t>(s.s - 3);
    s.p |= 0x04;
    s.nmi_line = 0;
    s.mapper_irq_since = kNever;
    s.dma_pending = 0;
    s.pc = static_cast<uint16_t>(peek(0xFFFC) | peek(0xFFFD) << 8);
    // The PPU's registers are cleared and its frame starts over; memory and the status flags stay.
    s.ctrl = s.mask = s.rendering = 0;
    s.suppress_vblank = s.write_toggle = 0;
    s.t = s.v = 0;
    s.fine_x = s.read_buffer = 0;
    s.data_read_cycle = kNever;
    s.frame_tick0 = 3 * s.cycle + 1;
    s.dot = -1;
    s.odd_frame = 1;
    s.frame_ready = 0;
    apu_reset();
    s.cycle += kStartCycles;
    line_counts_valid_ = false;
}

void Console::run_frame(uint8_t pad1, uint8_t pad2, bool draw) {
    s.pads[0] = pad1;
    s.pads[1] = pad2;
    if (draw && !picture_) picture_ = std::make_unique<Picture>();
    drawing_ = draw;
    line_.tiles = 0;
    s.frame_ready = 0;
    run();
    apu_sync(s.cycle - 1);  // so that a state is never far behind
}

void Console::copy_from(const Console &other) {
    const bool prg_ram = s.prg_ram_used || other.s.prg_ram_used;
    std::memcpy(static_cast<void *>(&s), &other.s, kCoreStateSize);
    if (prg_ram) std::memcpy(s.prg_ram, other.s.prg_ram, sizeof s.prg_ram);
    if (rom_.mirroring == Mirroring::four_screen) {
        std::memcpy(s.four_screen_vram, other.s.four_screen_vram, sizeof s.four_screen_vram);
    }
    if (rom_.has_chr_ram()) std::memcpy(s.chr_ram, other.s.chr_ram, sizeof s.chr_ram);
    line_counts_valid_ = false;
    map_banks();
}

std::vector<uint8_t> Console::save() const {
    const uint32_t parts = (s.prg_ram_used ? 1u : 0u) | (rom_.mirroring == Mirroring::four_screen ? 2u : 0u) |
                           (rom_.has_chr_ram() ? 4u : 0u);
    size_t size = kCoreStateSize;
    if (parts & 1) size += sizeof s.prg_ram;
    if (parts & 2) size += sizeof s.four_screen_vram;
    if (parts & 4) size += sizeof s.chr_ram;
    std::vector<uint8_t> bytes(sizeof(StateHeader) + size);
    uint8_t *body = bytes.data() + sizeof(StateHeader), *out = body;
    auto put = [&](const void *from, size_t count) {
        std::memcpy(out, from, count);
        out += count;
    };
    put(&s, kCoreStateSize);
    if (parts & 1) put(s.prg_ram, sizeof s.prg_ram);
    if (parts & 2) put(s.four_screen_vram, sizeof s.four_screen_vram);
    if (parts & 4) put(s.chr_ram, sizeof s.chr_ram);
    const StateHeader header = {
        kStateMagic, kStateVersion, rom_.hash, hash_bytes(body, size, parts), static_cast<uint32_t>(size), parts};
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

// Throws StateError unless load() will take these bytes.
void Console::check(const uint8_t *data, size_t size) const {
    StateHeader header;
    if (size < sizeof header) throw StateError("not a save state: too short");
    std::memcpy(&header, data, sizeof header);
    if (header.magic != kStateMagic) throw StateError("not a save state of this emulator");
    if (header.version != kStateVersion) {
        throw StateError("the save state has version " + std::to_string(header.version) + ", this emulator reads " +
                         std::to_string(kStateVersion));
    }
    if (header.rom_hash != rom_.hash) throw StateError("the save state belongs to another ROM");
    const uint32_t fixed = (rom_.mirroring == Mirroring::four_screen ? 2u : 0u) | (rom_.has_chr_ram() ? 4u : 0u);
    size_t expected = kCoreStateSize;
    if (header.parts & 1) expected += sizeof s.prg_ram;
    if (header.parts & 2) expected += sizeof s.four_screen_vram;
    if (header.parts & 4) expected += sizeof s.chr_ram;
    if ((header.parts & ~1u) != fixed || header.size != expected || size != sizeof header + expected) {
        throw StateError("the save state is truncated or damaged: wrong size");
    }
    const uint8_t *body = data + sizeof header;
    if (hash_bytes(body, expected, header.parts) != header.checksum) {
        throw StateError("the save state is damaged: wrong checksum");
    }
    State candidate;
    std::memcpy(static_cast<void *>(&candidate), body, kCoreStateSize);
    if (!plausible(candidate)) throw StateError("the save state is damaged: impossible values");
}

void Console::load(const uint8_t *data, size_t size) {
    check(data, size);
    StateHeader header;
    std::memcpy(&header, data, sizeof header);
    const uint8_t *body = data + sizeof header;
    const bool had_prg_ram = s.prg_ram_used;
    auto take = [&](void *to, size_t count) {
        std::memcpy(to, body, count);
        body += count;
    };
    take(&s, kCoreStateSize);
    if (header.parts & 1) {
        take(s.prg_ram, sizeof s.prg_ram);
    } else if (had_prg_ram) {
        std::memset(s.prg_ram, 0, sizeof s.prg_ram);
    }
    if (header.parts & 2) take(s.four_screen_vram, sizeof s.four_screen_vram);
    if (header.parts & 4) take(s.chr_ram, sizeof s.chr_ram);
    line_counts_valid_ = false;
    map_banks();
}

}  // namespace nes
