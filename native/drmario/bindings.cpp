// mario_rl._drmario: the Dr. Mario rules engine for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "arguments.hpp"
#include "image.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace drmario;

void bind_placements(nb::module_ &m, nb::class_<Games> &games);  // bindings_placements.cpp
void bind_search(nb::module_ &m, nb::class_<Games> &games);      // bindings_search.cpp
void bind_prospects(nb::module_ &m, nb::class_<Games> &games);   // bindings_prospects.cpp

namespace {

void reset(Games &games, const nb::object &seeds, const nb::object &levels, const nb::object &speeds,
           const nb::object &players, const std::optional<MaskArray> &mask) {
    require_idle(games);
    const int n = games.count();
    // Seeds 0 and 1 would give nothing but zeros: the generator never has these states.
    const auto seed = whole_numbers(seeds, "seeds", n, 1, 2, 0xFFFF);
    const auto level = whole_numbers(levels, "levels", n, 2, 0, 24);
    const auto speed = whole_numbers(speeds, "speeds", n, 2, 0, 2);
    const auto seats = whole_numbers(players, "players", n, 1, 1, 2);
    const bool *selected = checked_mask(games, mask);
    for (int game = 0; game < n; ++game) {
        if (selected && !selected[game]) continue;
        games.forget_plans(game);
        const size_t i = static_cast<size_t>(game);
        const uint8_t own_levels[2] = {static_cast<uint8_t>(level[2 * i]), static_cast<uint8_t>(level[2 * i + 1])};
        const uint8_t own_speeds[2] = {static_cast<uint8_t>(speed[2 * i]), static_cast<uint8_t>(speed[2 * i + 1])};
        new_game(games.ram(game), static_cast<uint16_t>(seed[i]), own_levels, own_speeds,
                 static_cast<uint8_t>(seats[i]));
    }
}

void step(Games &games, const PadsArray &pads, const nb::object &frames, const std::optional<MaskArray> &mask) {
    require_idle(games);
    if (static_cast<int>(pads.shape(0)) != games.count() || pads.shape(1) != 2) {
        throw nb::value_error("pads must have the shape (games, 2)");
    }
    const bool *selected = checked_mask(games, mask);
    std::vector<int32_t> counts;
    if (nb::isinstance<nb::int_>(frames)) {
        const int count = nb::cast<int>(frames);
        if (count < 0) throw nb::value_error("frames must not be negative");
        counts.assign(static_cast<size_t>(games.count()), count);
    } else {
        for (const int64_t number : whole_numbers(frames, "frames", games.count(), 1, 0, INT32_MAX)) {
            counts.push_back(static_cast<int32_t>(number));
        }
    }
    nb::gil_scoped_release unlocked;
    games.step(pads.data(), counts.data(), selected);
}

const uint8_t *checked_bytes(const nb::bytes &state) {
    if (state.size() != kRamSize) {
        throw StateError("not a game's RAM: " + std::to_string(state.size()) + " bytes instead of 2048");
    }
    return static_cast<const uint8_t *>(state.data());
}

void load(Games &games, int game, const nb::bytes &state) {
    Ram &target = ram_of(games, game);
    Ram ram;
    std::memcpy(&ram, checked_bytes(state), sizeof ram);
    check_state(ram);
    target = ram;
    games.forget_plans(game);
}

nb::object image_mask() {
    std::vector<uint8_t> counts(kRamSize, 0);
    for (const auto &[first, last] : kImage) std::fill(counts.begin() + first, counts.begin() + last + 1, 1);
    return nb::cast(owned(std::move(counts), kRamSize)).attr("astype")("bool");
}

}  // namespace

NB_MODULE(_drmario, m) {
    m.doc() = "The Dr. Mario rules engine: batches of games (Games).";
    nb::exception<StateError>(m, "StateError", PyExc_ValueError);
    m.def("image_mask", &image_mask, "bool[2048]: the bytes of RAM that are the game's state.");

    nb::class_<Games> games(m, "Games", "Games that are stepped together on a thread pool; each is 2048 bytes of RAM.");
    games.def(
             "__init__", [](Games *self, int n, int threads) { new (self) Games(n, threads); }, "n"_a, "threads"_a = 1)
        .def("__len__", &Games::count)
        .def_prop_ro("threads", &Games::threads)
        .def_prop_ro(
            "ram",
            [](nb::handle self) {
                Games &all = nb::cast<Games &>(self);
                const size_t n = static_cast<size_t>(all.count());
                return nb::ndarray<nb::numpy, uint8_t>(all.rams(), {n, kRamSize}, self);
            },
            "uint8[n, 2048]: the games themselves, not a copy.")
        .def("reset", &reset, "seeds"_a, "levels"_a, "speeds"_a, "players"_a, "mask"_a = nb::none())
        .def(
            "skip_intro",
            [](Games &all, const std::optional<MaskArray> &mask) {
                require_idle(all);
                const bool *selected = checked_mask(all, mask);
                bool reached;
                {
                    nb::gil_scoped_release unlocked;
                    reached = all.skip_intro(selected);
                }
                if (!reached)
                    throw nb::value_error("a game that is not before its first capsule has no intro: reset it");
            },
            "mask"_a = nb::none())
        .def("step", &step, "pads"_a, "frames"_a = 1, "mask"_a = nb::none())
        .def(
            "save",
            [](Games &all, int game) {
                return nb::bytes(reinterpret_cast<const char *>(&ram_of(all, game)), kRamSize);
            },
            "game"_a)
        .def("load", &load, "game"_a, "state"_a)
        .def(
            "load_ram",
            [](Games &all, int game, const nb::bytes &console_ram) {
                Ram &target = ram_of(all, game);
                target = from_console(checked_bytes(console_ram));
                all.forget_plans(game);
            },
            "game"_a, "console_ram"_a)
        .def(
            "copy",
            [](Games &all, int source, int target) {
                ram_of(all, source);
                ram_of(all, target);
                all.copy(source, target);
            },
            "source"_a, "target"_a);
    bind_placements(m, games);
    bind_search(m, games);
    bind_prospects(m, games);
}
