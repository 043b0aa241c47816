#include "rom.hpp"

#include <cstring>

#include "hash.hpp"

namespace nes {
namespace {

constexpr size_t kHeaderSize = 16;
constexpr size_t kTrainerSize = 512;
constexpr size_t kPrgUnit = 16 * 1024;
constexpr size_t kChrUnit = 8 * 1024;

}  // namespace

Rom::Rom(const uint8_t *data, size_t size) {
    if (size < kHeaderSize) {
        throw RomError("not an NES ROM: " + std::to_string(size) + " bytes is shorter than the 16-byte iNES header");
    }
    if (std::memcmp(data, "NES\x1a", 4) != 0) {
        throw RomError("not an NES ROM: the file does not start with the iNES magic 'NES\\x1a'");
    }
    const bool nes2 = (data[7] & 0x0C) == 0x08;
    size_t prg_units = data[4];
    size_t chr_units = data[5];
    mapper = data[6] >> 4;
    if (nes2) {
        if ((data[9] & 0x0F) == 0x0F || (data[9] >> 4) == 0x0F) {
            throw RomError("unsupported NES 2.0 header: exponent-coded ROM sizes");
        }
        prg_units |= static_cast<size_t>(data[9] & 0x0F) << 8;
        chr_units |= static_cast<size_t>(data[9] >> 4) << 8;
        mapper |= (data[7] & 0xF0) | (data[8] & 0x0F) << 8;
    } else {
        // Old dumpers wrote text ("DiskDude!") over bytes 7-15; then byte 7 says nothing about the mapper.
        const bool dirty = data[12] | data[13] | data[14] | data[15];
        if (!dirty) mapper |= data[7] & 0xF0;
    }
    if (mapper > 4) {
        throw RomError("unsupported mapper " + std::to_string(mapper) +
                       ": this core plays mappers 0 (NROM), 1 (MMC1), 2 (UxROM), 3 (CNROM) and 4 (MMC3)");
    }
    battery = data[6] & 0x02;
    mirroring = data[6] & 0x08 ? Mirroring::four_screen : data[6] & 0x01 ? Mirroring::vertical : Mirroring::horizontal;
    if (prg_units == 0) throw RomError("the header says the ROM has no PRG");
    const size_t trainer = data[6] & 0x04 ? kTrainerSize : 0;
    const size_t expected = kHeaderSize + trainer + prg_units * kPrgUnit + chr_units * kChrUnit;
    if (size < expected) {
        throw RomError("truncated ROM: the header promises " + std::to_string(prg_units * 16) + " KB PRG and " +
                       std::to_string(chr_units * 8) + " KB CHR (" + std::to_string(expected) +
                       " bytes), the file has " + std::to_string(size));
    }
    if (mapper == 0 && prg_units > 2) {
        throw RomError("the header promises " + std::to_string(prg_units * 16) +
                       " KB PRG, but mapper 0 (NROM) holds at most 32 KB");
    }
    if (mapper == 3 && prg_units > 2) {
        throw RomError("the header promises " + std::to_string(prg_units * 16) +
                       " KB PRG, but mapper 3 (CNROM) holds at most 32 KB");
    }
    // The largest boards we model: 512 KB PRG, 256 KB CHR (MMC3); NROM and UxROM have one 8 KB CHR.
    if (prg_units > 32 || chr_units > 32) {
        throw RomError("the header promises " + std::to_string(prg_units * 16) + " KB PRG and " +
                       std::to_string(chr_units * 8) + " KB CHR, more than any board of this mapper has");
    }
    const uint8_t *body = data + kHeaderSize + trainer;
    prg.assign(body, body + prg_units * kPrgUnit);
    chr.assign(body + prg.size(), body + prg.size() + chr_units * kChrUnit);

    hash = hash_bytes(prg.data(), prg.size(), 0x6D61726Full);
    hash = hash_bytes(chr.data(), chr.size(), hash);
    const uint8_t board[2] = {static_cast<uint8_t>(mapper), static_cast<uint8_t>(mirroring)};
    hash = hash_bytes(board, sizeof board, hash);

    plain_ = Program(prg, false);
    optimised_ = Program(prg, true);
}

}  // namespace nes
