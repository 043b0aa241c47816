// Damaged ROM files: the loader either says what is wrong or returns a cartridge that runs.
#include "fuzz.hpp"

namespace {

void damage(fuzz::Random &random, std::vector<uint8_t> &image) {
    switch (random.below(5)) {
        case 0:  // header bytes
            for (uint64_t i = 1 + random.below(4); i > 0; --i) image[random.below(16)] = random.byte();
            break;
        case 1: image.resize(random.below(image.size() + 1)); break;
        case 2: image.resize(image.size() + random.below(0x3000)); break;
        case 3:  // size lies only
            image[4] = random.byte();
            image[5] = random.byte();
            break;
        default:
            if (!image.empty()) image[random.below(image.size())] ^= static_cast<uint8_t>(1u << random.below(8));
            break;
    }
}

void one_case(uint64_t seed) {
    fuzz::Random random(seed);
    std::vector<uint8_t> image = fuzz::random_cartridge(random);
    damage(random, image);
    // An exact heap block, so that a read past its end is seen.
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[image.size()]);
    std::memcpy(exact.get(), image.data(), image.size());
    try {
        const nes::Rom rom(exact.get(), image.size());
        fuzz::Machine machine(rom, true);
        machine.console.run_frame(0, 0, true);
        if (machine.state->frames != 1) fuzz::fail(seed, "one step is not one frame");
    } catch (const nes::RomError &error) {
        if (std::strlen(error.what()) < 10) fuzz::fail(seed, "a RomError that explains nothing");
    }
}

}  // namespace

int main(int argc, char **argv) {
    return fuzz::run(argc, argv, "rom_loader", one_case);
}
