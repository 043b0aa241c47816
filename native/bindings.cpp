// mario_rl._native: the emulator core for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "batch.hpp"
#include "palette.hpp"
#include "pixels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_memory_views(nb::module_ &m);  // bindings_memory.cpp

namespace {

using nes::Batch;
using nes::State;
using PadsArray = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FramesArray = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MaskArray = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// While a step runs without the GIL, other Python threads must not touch its consoles.
void require_idle(const Batch &batch) {
    if (batch.stepping()) throw std::runtime_error("this batch is being stepped by another thread");
}

nes::Console &lane_of(Batch &batch, int lane) {
    require_idle(batch);
    if (lane < 0 || lane >= batch.lanes()) {
        throw nb::index_error(("lane " + std::to_string(lane) + " of " + std::to_string(batch.lanes())).c_str());
    }
    return batch.console(lane);
}

nes::ScreenUse screen_use(const std::string &name) {
    if (name == "off") return nes::ScreenUse::off;
    if (name == "draw") return nes::ScreenUse::draw;
    if (name == "push") return nes::ScreenUse::push;
    if (name == "replace") return nes::ScreenUse::replace;
    if (name == "fill") return nes::ScreenUse::fill;
    throw nb::value_error(("screen must be off, draw, push, replace or fill, not '" + name + "'").c_str());
}

const bool *checked_mask(const Batch &batch, const std::optional<MaskArray> &mask) {
    if (!mask) return nullptr;
    if (static_cast<int>(mask->shape(0)) != batch.lanes()) throw nb::value_error("mask must have one entry per lane");
    return mask->data();
}

void step(Batch &batch, const PadsArray &pads, const int32_t *frames, const std::optional<MaskArray> &mask,
          const std::string &screen) {
    if (static_cast<int>(pads.shape(0)) != batch.lanes() || pads.shape(1) != 2) {
        throw nb::value_error("pads must have the shape (lanes, 2)");
    }
    require_idle(batch);
    const bool *selected = checked_mask(batch, mask);
    const nes::ScreenUse use = screen_use(screen);
    nb::gil_scoped_release unlocked;
    batch.step(pads.data(), frames, selected, use);
}

const nes::Picture &picture_of(Batch &batch, int lane) {
    const nes::Picture *picture = lane_of(batch, lane).picture();
    if (!picture) throw nb::value_error("this lane has not drawn a frame yet: step it with screen='draw'");
    return *picture;
}

template <typename T, typename... Shape>
auto owned(std::vector<T> values, Shape... shape) {
    auto *heap = new std::vector<T>(std::move(values));
    nb::capsule owner(heap, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return nb::ndarray<nb::numpy, T>(heap->data(), {static_cast<size_t>(shape)...}, owner);
}

nb::object state_column(Batch &batch, uint64_t State::*member) {
    std::vector<uint64_t> values;
    for (int i = 0; i < batch.lanes(); ++i) values.push_back(batch.console(i).state().*member);
    const size_t lanes = values.size();
    return nb::cast(owned(std::move(values), lanes));
}

void load_bytes(nes::Console &console, const nb::bytes &state) {
    console.load(static_cast<const uint8_t *>(state.data()), state.size());
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The NES core: cartridges (Rom) and batches of consoles (Batch).";
    nb::exception<nes::RomError>(m, "RomError", PyExc_ValueError);
    nb::exception<nes::StateError>(m, "StateError", PyExc_ValueError);

    m.def(
        "palette",
        [] {
            std::vector<uint8_t> rgb;
            for (const auto &colour : nes::palette().rgb) rgb.insert(rgb.end(), colour.begin(), colour.end());
            return owned(std::move(rgb), 8, 64, 3);
        },
        "RGB of every NES colour: uint8[emphasis 8, colour 64, 3].");

    bind_memory_views(m);

    nb::class_<nes::Rom>(m, "Rom", "A cartridge image (iNES).")
        .def(
            "__init__",
            [](nes::Rom *self, const nb::bytes &data) {
                new (self) nes::Rom(static_cast<const uint8_t *>(data.data()), data.size());
            },
            "data"_a)
        .def_ro("mapper", &nes::Rom::mapper)
        .def_ro("battery", &nes::Rom::battery)
        .def_ro("hash", &nes::Rom::hash)
        .def_prop_ro("prg_size", [](const nes::Rom &rom) { return rom.prg.size(); })
        .def_prop_ro("chr_size", [](const nes::Rom &rom) { return rom.chr.size(); })
        .def_prop_ro("mirroring", [](const nes::Rom &rom) {
            return rom.mirroring == nes::Mirroring::four_screen ? "four-screen"
                   : rom.mirroring == nes::Mirroring::vertical  ? "vertical"
                                                                : "horizontal";
        });

    nb::class_<Batch>(m, "Batch", "Consoles ('lanes') of one cartridge, stepped together on a thread pool.")
        .def(
            "__init__",
            [](Batch *self, std::shared_ptr<nes::Rom> rom, int lanes, int threads, bool idle_skip) {
                new (self) Batch(std::move(rom), lanes, threads, idle_skip);
            },
            "rom"_a, "lanes"_a, "threads"_a = 1, "idle_skip"_a = true)
        .def_prop_ro("lanes", &Batch::lanes)
        .def_prop_ro("threads", &Batch::threads)
        .def_prop_ro("state_size", [](Batch &batch) { return batch.console(0).save().size(); })
        .def_prop_ro(
            "ram",
            [](nb::handle self) {
                Batch &batch = nb::cast<Batch &>(self);
                const size_t lanes = static_cast<size_t>(batch.lanes());
                const int64_t strides[2] = {static_cast<int64_t>(sizeof(State)), 1};
                return nb::ndarray<nb::numpy, uint8_t>(batch.states()->ram, {lanes, 0x800}, self,
                                                       {strides[0], strides[1]});
            },
            "uint8[lanes, 2048]: the consoles' RAM itself, not a copy.")
        .def_prop_ro("cycles", [](Batch &batch) { return state_column(batch, &State::cycle); })
        .def_prop_ro("frames", [](Batch &batch) { return state_column(batch, &State::frames); })
        .def(
            "step",
            [](Batch &batch, const PadsArray &pads, int frames, const std::optional<MaskArray> &mask,
               const std::string &screen) {
                const std::vector<int32_t> each(static_cast<size_t>(batch.lanes()), frames);
                step(batch, pads, each.data(), mask, screen);
            },
            "pads"_a, "frames"_a, "mask"_a = nb::none(), "screen"_a = "off",
            "Runs every lane (or those in mask) for `frames` frames with its two pads held.")
        .def(
            "step",
            [](Batch &batch, const PadsArray &pads, const FramesArray &frames, const std::optional<MaskArray> &mask,
               const std::string &screen) {
                if (static_cast<int>(frames.shape(0)) != batch.lanes()) {
                    throw nb::value_error("frames must have one entry per lane");
                }
                step(batch, pads, frames.data(), mask, screen);
            },
            "pads"_a, "frames"_a, "mask"_a = nb::none(), "screen"_a = "off")
        .def(
            "configure_screen",
            [](nb::handle self, const std::string &colour, std::tuple<int, int, int, int> crop,
               std::optional<std::tuple<int, int>> size, int stack, bool max_pool) {
                if (colour != "grey" && colour != "rgb") throw nb::value_error("colour must be 'grey' or 'rgb'");
                Batch &batch = nb::cast<Batch &>(self);
                require_idle(batch);
                if (batch.screen()) throw nb::value_error("configure_screen was called before: make a new batch");
                nes::ScreenConfig config;
                config.rgb = colour == "rgb";
                std::tie(config.top, config.bottom, config.left, config.right) = crop;
                if (size) {
                    std::tie(config.height, config.width) = *size;
                    if (config.height < 1 || config.width < 1) throw nb::value_error("size must be positive");
                }
                config.stack = stack;
                config.max_pool = max_pool;
                batch.configure_screen(config);
                std::vector<size_t> shape = {static_cast<size_t>(batch.lanes()), static_cast<size_t>(stack),
                                             static_cast<size_t>(batch.screen()->height()),
                                             static_cast<size_t>(batch.screen()->width())};
                if (config.rgb) shape.push_back(3);
                return nb::ndarray<nb::numpy, uint8_t>(batch.screens(), shape.size(), shape.data(), self);
            },
            "colour"_a = "grey", "crop"_a = std::make_tuple(0, 0, 0, 0), "size"_a = nb::none(), "stack"_a = 1,
            "max_pool"_a = false,
            "Sets what screen='push' makes of a picture; returns the buffer it fills, newest frame last. "
            "Once only.")
        .def(
            "frame",
            [](Batch &batch, int lane) {
                const nes::Picture &picture = picture_of(batch, lane);
                std::vector<uint8_t> rgb(nes::kHeight * nes::kWidth * 3);
                for (int y = 0; y < nes::kHeight; ++y) {
                    const uint32_t *colours = nes::palette().words.data() + (picture.emphasis[y] << 6);
                    nes::map_rgb(picture.pixels[y], rgb.data() + y * nes::kWidth * 3, nes::kWidth, colours);
                }
                return owned(std::move(rgb), nes::kHeight, nes::kWidth, 3);
            },
            "lane"_a, "RGB of the last drawn frame: uint8[240, 256, 3].")
        .def(
            "pixels",
            [](Batch &batch, int lane) {
                const nes::Picture &picture = picture_of(batch, lane);
                const uint8_t *first = &picture.pixels[0][0];
                return owned(std::vector<uint8_t>(first, first + nes::kHeight * nes::kWidth), nes::kHeight,
                             nes::kWidth);
            },
            "lane"_a, "NES palette indices of the last drawn frame: uint8[240, 256].")
        .def(
            "peek",
            [](Batch &batch, int lane, int address, int length) {
                if (address < 0 || length < 0 || address + length > 0x10000) {
                    throw nb::value_error("peek reads within $0000-$FFFF");
                }
                nes::Console &console = lane_of(batch, lane);
                std::string bytes;
                for (int i = 0; i < length; ++i) {
                    bytes.push_back(static_cast<char>(console.peek(static_cast<uint16_t>(address + i))));
                }
                return nb::bytes(bytes.data(), bytes.size());
            },
            "lane"_a, "address"_a, "length"_a = 1, "The CPU bus without side effects; registers read as 0.")
        .def(
            "poke",
            [](Batch &batch, int lane, int address, int value) {
                if (address < 0 || address > 0xFFFF || value < 0 || value > 0xFF) {
                    throw nb::value_error("poke takes an address within $0000-$FFFF and a byte");
                }
                if ((address >= 0x2000 && address < 0x6000) || address >= 0x8000) {
                    throw nb::value_error("poke writes RAM ($0000-$1FFF) and cartridge RAM ($6000-$7FFF) only");
                }
                lane_of(batch, lane).poke(static_cast<uint16_t>(address), static_cast<uint8_t>(value));
            },
            "lane"_a, "address"_a, "value"_a)
        .def(
            "save",
            [](Batch &batch, int lane) {
                const std::vector<uint8_t> state = lane_of(batch, lane).save();
                return nb::bytes(state.data(), state.size());
            },
            "lane"_a)
        .def(
            "load", [](Batch &batch, int lane, const nb::bytes &state) { load_bytes(lane_of(batch, lane), state); },
            "lane"_a, "state"_a)
        .def(
            "load_lanes",
            [](Batch &batch, const MaskArray &mask, const std::vector<nb::bytes> &states) {
                require_idle(batch);
                const bool *selected = checked_mask(batch, mask);
                const long count = std::count(selected, selected + batch.lanes(), true);
                if (count != static_cast<long>(states.size())) {
                    throw nb::value_error("load_lanes takes one state for each lane in mask");
                }
                for (const nb::bytes &state : states) {
                    batch.console(0).check(static_cast<const uint8_t *>(state.data()), state.size());
                }
                size_t next = 0;
                for (int lane = 0; lane < batch.lanes(); ++lane) {
                    if (selected[lane]) load_bytes(batch.console(lane), states[next++]);
                }
            },
            "mask"_a, "states"_a)
        .def(
            "copy",
            [](Batch &batch, int source, int target) {
                nes::Console &from = lane_of(batch, source), &to = lane_of(batch, target);
                if (source != target) to.copy_from(from);
            },
            "source"_a, "target"_a)
        .def(
            "power", [](Batch &batch, int lane) { lane_of(batch, lane).power(); }, "lane"_a)
        .def(
            "reset", [](Batch &batch, int lane) { lane_of(batch, lane).reset(); }, "lane"_a)
        .def(
            "registers",
            [](Batch &batch, int lane) {
                const State &s = lane_of(batch, lane).state();
                nb::dict out;
                out["pc"] = s.pc;
                out["a"] = s.a;
                out["x"] = s.x;
                out["y"] = s.y;
                out["s"] = s.s;
                out["p"] = s.p;
                out["scanline"] = (s.dot + nes::kDotsPerLine) / nes::kDotsPerLine - 1;
                out["dot"] = s.dot < 0 ? 0 : s.dot % nes::kDotsPerLine;
                return out;
            },
            "lane"_a);
}
