// Random machine code, JAM included, on every mapper: it runs, idle-loop skipping and drawing change nothing, and a
// saved state continues as the console itself does.
#include "fuzz.hpp"

namespace {

constexpr int kFrames = 4;

void one_case(uint64_t seed) {
    fuzz::Random random(seed);
    const std::vector<uint8_t> image = fuzz::random_cartridge(random);
    const nes::Rom rom(image.data(), image.size());
    fuzz::Machine skipping(rom, true), plain(rom, false), restored(rom, true);
    for (int frame = 0; frame < kFrames; ++frame) {
        const uint8_t pad1 = random.byte(), pad2 = random.byte();
        if (random.one_in(10)) {
            skipping.console.reset();
            plain.console.reset();
        }
        const std::vector<uint8_t> before = skipping.console.save();
        restored.console.load(before.data(), before.size());
        skipping.console.run_frame(pad1, pad2, random.one_in(2));
        plain.console.run_frame(pad1, pad2, random.one_in(2));
        restored.console.run_frame(pad1, pad2, false);
        if (skipping.state->frames != static_cast<uint64_t>(frame) + 1) fuzz::fail(seed, "one step is not one frame");
        if (std::memcmp(skipping.state->ram, plain.state->ram, sizeof plain.state->ram) != 0) {
            fuzz::fail(seed, "idle-loop skipping changes RAM");
        }
        if (skipping.state->cycle != plain.state->cycle) fuzz::fail(seed, "idle-loop skipping changes the cycle count");
        if (restored.console.save() != skipping.console.save()) fuzz::fail(seed, "a loaded state runs differently");
    }
}

}  // namespace

int main(int argc, char **argv) {
    return fuzz::run(argc, argv, "random_programs", one_case);
}
