// Cartridge boards: NROM (0), MMC1 (1), UxROM (2), CNROM (3), MMC3 (4).
#include "console.hpp"

namespace nes {

// Rebuilds every window from the mapper's registers.
void Console::map_banks() {
    const size_t prg_banks = rom_.prg.size() / 0x2000;
    auto prg8 = [&](int window, size_t bank) {
        bank %= prg_banks;
        prg_[window] = rom_.prg.data() + bank * 0x2000;
        ops_[window] = program_.bank8(bank);
    };
    auto prg16 = [&](int window, size_t bank) {
        prg8(window, bank * 2);
        prg8(window + 1, bank * 2 + 1);
    };
    const uint8_t *chr = rom_.has_chr_ram() ? s.chr_ram : rom_.chr.data();
    const size_t chr_banks = rom_.has_chr_ram() ? 8 : rom_.chr.size() / 0x400;
    auto chr1 = [&](int window, size_t bank) { chr_[window] = chr + bank % chr_banks * 0x400; };
    auto chr_run = [&](int window, int count, size_t bank) {
        for (int i = 0; i < count; ++i) chr1(window + i, bank + static_cast<size_t>(i));
    };

    Mirroring mirroring = rom_.mirroring;
    const uint8_t *r = s.mapper_register;
    const size_t last16 = prg_banks / 2 - 1;
    switch (rom_.mapper) {
        case 1:
            if (r[0] & 0x08) {
                prg16(0, r[0] & 0x04 ? r[3] & 0x0Fu : 0);
                prg16(2, r[0] & 0x04 ? last16 : r[3] & 0x0Fu);
            } else {
                prg16(0, r[3] & 0x0Eu);
                prg16(2, (r[3] & 0x0Eu) + 1);
            }
            if (r[0] & 0x10) {
                chr_run(0, 4, (r[1] & 0x1Fu) * 4);
                chr_run(4, 4, (r[2] & 0x1Fu) * 4);
            } else {
                chr_run(0, 8, (r[1] & 0x1Eu) * 4);
            }
            mirroring = (r[0] & 3) == 0   ? Mirroring::single_low
                        : (r[0] & 3) == 1 ? Mirroring::single_high
                        : (r[0] & 3) == 2 ? Mirroring::vertical
                                          : Mirroring::horizontal;
            break;
        case 2:
            prg16(0, r[0]);
            prg16(2, last16);
            chr_run(0, 8, 0);
            break;
        case 3:
            prg16(0, 0);
            prg16(2, last16);
            chr_run(0, 8, r[0] * 8u);
            break;
        case 4: {
            const bool swap_prg = s.mapper_select & 0x40;
            prg8(swap_prg ? 2 : 0, r[6] & 0x3Fu);
            prg8(1, r[7] & 0x3Fu);
            prg8(swap_prg ? 0 : 2, prg_banks - 2);
            prg8(3, prg_banks - 1);
            const int low = s.mapper_select & 0x80 ? 4 : 0;
            chr_run(low, 2, r[0] & 0xFEu);
            chr_run(low + 2, 2, r[1] & 0xFEu);
            for (int i = 0; i < 4; ++i) chr1((low ^ 4) + i, r[2 + i]);
            if (mirroring != Mirroring::four_screen) mirroring = static_cast<Mirroring>(s.mapper_mirroring);
            break;
        }
        default:
            prg16(0, 0);
            prg16(2, last16);
            chr_run(0, 8, 0);
            break;
    }

    uint8_t *const low = s.vram, *const high = s.vram + 0x400;
    uint8_t *tables[4] = {low, low, high, high};
    switch (mirroring) {
        case Mirroring::horizontal: break;
        case Mirroring::vertical: tables[1] = tables[3] = high, tables[2] = low; break;
        case Mirroring::single_low: tables[2] = tables[3] = low; break;
        case Mirroring::single_high: tables[0] = tables[1] = high; break;
        case Mirroring::four_screen:
            tables[1] = high, tables[2] = s.four_screen_vram, tables[3] = s.four_screen_vram + 0x400;
            break;
    }
    for (int i = 0; i < 4; ++i) nametable_[i] = tables[i];
    line_.row_key = 0;
}

void Console::mapper_write(uint16_t address, uint8_t value, uint64_t n) {
    if (rom_.mapper == 0) return;
    ppu_sync(3 * n + 2);
    uint8_t *r = s.mapper_register;
    switch (rom_.mapper) {
        case 1: {
            // The serial port sees only the first of writes in consecutive cycles (read-modify-write instructions).
            const bool in_a_row = n - s.mapper_write_cycle < 2;
            s.mapper_write_cycle = n;
            if (in_a_row) return;
            if (value & 0x80) {
                r[0] |= 0x0C;
                s.mapper_shift = s.mapper_shift_count = 0;
            } else {
                s.mapper_shift = static_cast<uint8_t>(s.mapper_shift >> 1 | (value & 1) << 4);
                if (++s.mapper_shift_count < 5) return;
                r[address >> 13 & 3] = s.mapper_shift;
                s.mapper_shift = s.mapper_shift_count = 0;
            }
            s.mapper_ram_protect = r[3] >> 4 & 1;
            break;
        }
        case 2:
        case 3: r[0] = value; break;
        default:  // MMC3
            switch (address & 0xE001) {
                case 0x8000: s.mapper_select = value; break;
                case 0x8001: r[s.mapper_select & 7] = value; break;
                case 0xA000:
                    s.mapper_mirroring = static_cast<uint8_t>(value & 1 ? Mirroring::horizontal : Mirroring::vertical);
                    break;
                case 0xA001: s.mapper_ram_protect = value >> 6 & 1; break;
                case 0xC000: s.irq_reload_value = value; break;
                case 0xC001:
                    s.irq_counter = 0;
                    s.irq_reload = 1;
                    break;
                case 0xE000:
                    s.irq_enabled = 0;
                    withdraw_irq(n);
                    s.mapper_irq_since = kNever;
                    break;
                case 0xE001: s.irq_enabled = 1; break;
            }
            update_attention();
            if (address >= 0xC000) return;  // no bank changed
            break;
    }
    map_banks();
    remapped_ = true;
}

// MMC3's scanline counter counts rises of PPU address line A12 that follow at least 10 ticks of low.
void Console::clock_irq_counter(uint64_t tick) {
    if (s.irq_counter == 0 || s.irq_reload) {
        s.irq_counter = s.irq_reload_value;
    } else {
        --s.irq_counter;
    }
    s.irq_reload = 0;
    if (s.irq_counter == 0 && s.irq_enabled && s.mapper_irq_since == kNever) {
        s.mapper_irq_since = (tick + 2) / 3 - 1;
    }
}

void Console::a12_access(uint16_t address, uint64_t tick) {
    if (address & 0x1000) {
        if (s.a12_low_tick != kNever && tick - s.a12_low_tick >= 10) clock_irq_counter(tick);
        s.a12_low_tick = kNever;
    } else if (s.a12_low_tick == kNever) {
        s.a12_low_tick = tick;
    }
}

// The fetches of dots first..last of a rendering line, as far as A12 goes.
void Console::a12_line(int line, int first, int last) {
    const uint64_t tick0 = s.frame_tick0 + static_cast<uint64_t>(line * kDotsPerLine);
    const uint16_t background = s.ctrl & 0x10 ? 0x1000 : 0;
    const bool tall = s.ctrl & 0x20;
    if (!tall && first == 0 && last == 340) {
        // A whole line with 8x8 sprites: A12 follows the two pattern tables, dipping for the name fetches in between
        // (too short to count). It is enough to look where a long low can begin or end.
        const uint16_t sprite = s.ctrl & 8 ? 0x1000 : 0;
        a12_access(0, tick0 + 1);
        if (background) a12_access(background, tick0 + 5);
        if (background != sprite) a12_access(0, tick0 + 257);
        if (sprite && !background) a12_access(sprite, tick0 + 261);
        if (sprite && !background) a12_access(0, tick0 + 321);
        if (background && !sprite) a12_access(background, tick0 + 325);
        a12_access(0, tick0 + 337);
        return;
    }
    uint16_t sprites[8];
    const Evaluation found = tall && line < 240 ? evaluate_sprites(line, s.oam_address, 256) : Evaluation{};
    for (int k = 0; k < 8; ++k) {
        sprites[k] = tall ? (k < found.count && !(found.entries[k][1] & 1) ? 0 : 0x1000) : (s.ctrl & 8 ? 0x1000 : 0);
    }
    for (int x = first | 1; x <= last && x < 340; x += 2) {
        const int phase = x & 7;
        uint16_t address = 0;
        if (phase >= 5) {
            if (x < 256 || (x > 320 && x < 337)) {
                address = background;
            } else if (x > 256 && x <= 320) {
                address = sprites[(x - 257) / 8];
            }
        }
        a12_access(address, tick0 + static_cast<uint64_t>(x));
    }
}

// Where on a line, after dot x, the counter may be clocked; -1 if nowhere.
int Console::next_a12_event(int line, int x) const {
    const bool tall = s.ctrl & 0x20;
    // The pre-render line ends the long low of vblank.
    if (line == 261 && (s.ctrl & 0x10) && x < 5) return 5;
    if (!tall) {
        const bool background = s.ctrl & 0x10, sprite = s.ctrl & 8;
        const int at = background == sprite ? -1 : sprite ? 261 : 325;
        return at > x ? at : -1;
    }
    for (int at = 261; at <= 325; at += 8) {
        if (at > x) return at;
    }
    return -1;
}

}  // namespace nes
