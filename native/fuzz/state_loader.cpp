// Damaged save states, most of them with a checksum that fits: refused without a change, or loaded and run.
#include "../hash.hpp"
#include "fuzz.hpp"

namespace {

// Offsets in the header that console.cpp writes
constexpr size_t kChecksumAt = 16, kPartsAt = 28, kHeaderSize = 32;

void forge_checksum(std::vector<uint8_t> &bytes) {
    if (bytes.size() < kHeaderSize) return;
    uint32_t parts;
    std::memcpy(&parts, bytes.data() + kPartsAt, sizeof parts);
    const uint64_t checksum = nes::hash_bytes(bytes.data() + kHeaderSize, bytes.size() - kHeaderSize, parts);
    std::memcpy(bytes.data() + kChecksumAt, &checksum, sizeof checksum);
}

void damage(fuzz::Random &random, std::vector<uint8_t> &bytes) {
    static const uint64_t extremes[] = {0, 1, ~0ull, 1ull << 63, nes::kNever, 1ull << 59, 0xFFFFFFFFull};
    for (uint64_t i = 1 + random.below(6); i > 0; --i) {
        // RAM needs no fuzzing: aim at the registers behind it
        const size_t first = kHeaderSize + offsetof(nes::State, cycle);
        const size_t at = first + random.below(nes::kCoreStateSize - offsetof(nes::State, cycle));
        if (random.one_in(3) && at + 8 <= bytes.size()) {
            const uint64_t extreme = extremes[random.below(sizeof extremes / sizeof *extremes)];
            std::memcpy(bytes.data() + (at & ~size_t{7}), &extreme, sizeof extreme);
        } else if (at < bytes.size()) {
            bytes[at] = random.byte();
        }
    }
    if (random.one_in(8)) bytes.resize(random.below(bytes.size() + 1));
    if (random.one_in(8) && bytes.size() >= kHeaderSize) bytes[random.below(kHeaderSize)] = random.byte();
}

void one_case(uint64_t seed) {
    fuzz::Random random(seed);
    const std::vector<uint8_t> image = fuzz::random_cartridge(random);
    const nes::Rom rom(image.data(), image.size());
    fuzz::Machine machine(rom, random.one_in(2));
    for (uint64_t i = random.below(3); i > 0; --i) machine.console.run_frame(random.byte(), random.byte(), false);
    const std::vector<uint8_t> good = machine.console.save();
    for (int attempt = 0; attempt < 20; ++attempt) {
        std::vector<uint8_t> bytes = good;
        damage(random, bytes);
        if (!random.one_in(6)) forge_checksum(bytes);
        const std::vector<uint8_t> before = machine.console.save();
        try {
            machine.console.load(bytes.data(), bytes.size());
            for (int i = 0; i < 2; ++i) machine.console.run_frame(random.byte(), random.byte(), i == 0);
        } catch (const nes::StateError &) {
            if (machine.console.save() != before) fuzz::fail(seed, "a refused state changed the console");
        }
    }
    machine.console.load(good.data(), good.size());
    if (machine.console.save() != good) fuzz::fail(seed, "a good state does not come back");
}

}  // namespace

int main(int argc, char **argv) {
    return fuzz::run(argc, argv, "state_loader", one_case);
}
