// The part of mario_rl._drmario about placements: where capsules can go, how, and playing them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <tuple>

#include "arguments.hpp"
#include "placement_features.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace drmario;

namespace {

void require_seat(int seat) {
    if (seat != 0 && seat != 1) throw nb::value_error("seat must be 0 or 1");
}

nb::tuple placements(Games &games, int seat, const std::optional<MaskArray> &mask) {
    require_idle(games);
    require_seat(seat);
    const bool *selected = checked_mask(games, mask);
    const size_t n = static_cast<size_t>(games.count());
    std::vector<int32_t> counts(n, 0);
    std::vector<PlacementId> ids, canonical;
    std::vector<uint8_t> tucked;
    size_t width = 1;
    {
        nb::gil_scoped_release unlocked;
        std::vector<Placements> found(n);
        games.each(selected, [&](int game) {
            const Ram &ram = games.ram(game);
            Placements &own = found[static_cast<size_t>(game)];
            if (at_decision(ram, seat)) find_placements(Room(ram.fields[seat]), Descent(ram, seat), own);
        });
        for (const Placements &own : found) width = std::max(width, static_cast<size_t>(own.count));
        ids.assign(n * width, -1);
        canonical.assign(n * width, -1);
        tucked.assign(n * width, 0);
        for (size_t game = 0; game < n; ++game) {
            const Placements &own = found[game];
            const uint8_t *colours = games.ram(static_cast<int>(game)).player(seat).colours;
            counts[game] = own.count;
            for (int i = 0; i < own.count; ++i) {
                const size_t k = static_cast<size_t>(i), to = game * width + k;
                ids[to] = own.ids[k];
                canonical[to] = own.canonical(i, colours[0] == colours[1]);
                tucked[to] = own.tucked[k];
            }
        }
    }
    return nb::make_tuple(owned(std::move(counts), n), owned(std::move(ids), n, width),
                          owned(std::move(canonical), n, width), owned(std::move(tucked), n, width));
}

nb::bytes script(Games &games, int game, int placement, int seat) {
    const Ram &ram = ram_of(games, game);
    require_seat(seat);
    if (!at_decision(ram, seat))
        throw nb::value_error("no capsule waits for a placement: call next_decision, or reset");
    Script out;
    const bool known = placement >= 0 && placement < kPlacementIds;
    if (!known || !find_script(Room(ram.fields[seat]), Descent(ram, seat),
                               placement_position(static_cast<PlacementId>(placement)), out)) {
        throw nb::value_error("the capsule cannot get there: choose one of its placements");
    }
    return nb::bytes(reinterpret_cast<const char *>(out.pads.data()), static_cast<size_t>(out.length));
}

template <typename T, int dimensions>
using Writable = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

// One seat's scripts, kept by the caller: pads [n, k], how many of them there are, and which is the next.
struct KeptScripts {
    uint8_t *pads;
    int32_t *lengths, *next;
    size_t width;

    KeptScripts(Games &games, const Writable<uint8_t, 2> &pads_, const Writable<int32_t, 1> &lengths_,
                const Writable<int32_t, 1> &next_)
        : pads(pads_.data()), lengths(lengths_.data()), next(next_.data()), width(pads_.shape(1)) {
        const size_t n = static_cast<size_t>(games.count());
        if (pads_.shape(0) != n || lengths_.shape(0) != n || next_.shape(0) != n || width < kMostFrames)
            throw nb::value_error("scripts must have one row of LONGEST_SCRIPT pads, a length and a position per game");
        for (size_t i = 0; i < n; ++i) {
            if (lengths[i] < 0 || lengths[i] > kMostFrames || next[i] < 0)
                throw nb::value_error("a script's length is between 0 and LONGEST_SCRIPT, its position not negative");
        }
    }

    Plan plan(int game) const {
        Plan rest;
        rest.script.length = std::max(lengths[game] - next[game], 0);
        std::copy_n(pads + static_cast<size_t>(game) * width + next[game], rest.script.length,
                    rest.script.pads.begin());
        return rest;
    }
};

void write_scripts(Games &games, const nb::object &choices, const Writable<uint8_t, 2> &pads,
                   const Writable<int32_t, 1> &lengths, const Writable<int32_t, 1> &next, int seat,
                   const std::optional<MaskArray> &mask) {
    require_idle(games);
    require_seat(seat);
    const bool *selected = checked_mask(games, mask);
    const auto ids = whole_numbers(choices, "placements", games.count(), 1, -1, kPlacementIds - 1);
    const KeptScripts kept(games, pads, lengths, next);
    std::atomic<bool> possible{true};
    {
        nb::gil_scoped_release unlocked;
        games.each(selected, [&](int game) {
            const Ram &ram = games.ram(game);
            const int64_t id = ids[static_cast<size_t>(game)];
            Script script;
            if (id < 0 || !at_decision(ram, seat) ||
                !find_script(Room(ram.fields[seat]), Descent(ram, seat),
                             placement_position(static_cast<PlacementId>(id)), script)) {
                possible = false;
                return;
            }
            std::copy_n(script.pads.begin(), script.length, kept.pads + static_cast<size_t>(game) * kept.width);
            kept.lengths[game] = script.length;
            kept.next[game] = 0;
        });
    }
    if (!possible) throw nb::value_error("a capsule cannot get there, or none waits: choose one of its placements");
}

using SeatScripts = std::tuple<Writable<uint8_t, 2>, Writable<int32_t, 1>, Writable<int32_t, 1>>;

nb::object follow(Games &games, const std::vector<SeatScripts> &seats, uint8_t deciders,
                  const Writable<int32_t, 3> &totals, const Writable<int32_t, 1> &frames,
                  const std::optional<MaskArray> &mask) {
    require_idle(games);
    const bool *selected = checked_mask(games, mask);
    const size_t n = static_cast<size_t>(games.count());
    if (seats.empty() || seats.size() > 2) throw nb::value_error("scripts are those of one or two seats");
    if (totals.shape(0) != Tally::kCounts || totals.shape(1) != n || totals.shape(2) != 2 || frames.shape(0) != n)
        throw nb::value_error("totals must have the shape (counts, n, 2), and frames one number per game");
    std::vector<KeptScripts> kept;
    for (const auto &[pads, lengths, next] : seats) kept.emplace_back(games, pads, lengths, next);
    int32_t *const counted = totals.data(), *const ran = frames.data();
    std::vector<uint8_t> waiting(n, 0);
    {
        nb::gil_scoped_release unlocked;
        games.each(selected, [&](int game) {
            Ram &ram = games.ram(game);
            if (ram.mode != kPlay || ram.phase != kPlaying) return;
            games.forget_plans(game);
            Plan own[2];
            for (size_t seat = 0; seat < kept.size(); ++seat) own[seat] = kept[seat].plan(game);
            Plan *plans[2] = {&own[0], &own[1]};
            Tally tally(ram);
            bool stuck;
            waiting[static_cast<size_t>(game)] = play_to_decision(ram, plans, stuck, deciders, &tally);
            const bool over = waiting[static_cast<size_t>(game)] == 0;
            for (size_t seat = 0; seat < kept.size(); ++seat) {
                if (over)
                    kept[seat].next[game] = kept[seat].lengths[game];
                else
                    kept[seat].next[game] += own[seat].next;
            }
            ran[game] += tally.frames;
            for (size_t count = 0; count < Tally::kCounts; ++count) {
                for (size_t seat = 0; seat < 2; ++seat)
                    counted[(count * n + static_cast<size_t>(game)) * 2 + seat] += tally.totals[count][seat];
            }
        });
    }
    return nb::cast(owned(std::move(waiting), n));
}

using IdsArray = nb::ndarray<const PlacementId, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object features(Games &games, const IdsArray &ids, int seat) {
    require_idle(games);
    require_seat(seat);
    const size_t n = static_cast<size_t>(games.count()), width = ids.shape(1);
    if (ids.shape(0) != n) throw nb::value_error("placements must have one row per game");
    const PlacementId *given = ids.data();
    std::vector<uint8_t> values(n * width * kPlacementFeatures, 0);
    std::atomic<bool> known{true};
    {
        nb::gil_scoped_release unlocked;
        games.each(nullptr, [&](int game) {
            const Ram &ram = games.ram(game);
            const Field &field = ram.fields[seat];
            for (size_t i = 0; i < width; ++i) {
                const size_t k = static_cast<size_t>(game) * width + i;
                if (given[k] < 0) continue;
                const Position at = placement_position(given[k]);
                if (given[k] >= kPlacementIds || !is_free(field, at)) {
                    known = false;
                    continue;
                }
                const PlacementFeatures own = placement_features(field, at, ram.player(seat).colours);
                std::copy(own.begin(), own.end(), &values[k * kPlacementFeatures]);
            }
        });
    }
    if (!known) throw nb::value_error("something lies where a placement would be: take those that placements() gives");
    return nb::cast(owned(std::move(values), n, width, +kPlacementFeatures));
}

nb::object next_decision(Games &games, const std::optional<MaskArray> &mask) {
    require_idle(games);
    const bool *selected = checked_mask(games, mask);
    std::vector<uint8_t> waiting(static_cast<size_t>(games.count()), 0);
    {
        nb::gil_scoped_release unlocked;
        games.next_decision(selected, waiting.data());
    }
    return nb::cast(owned(std::move(waiting), games.count()));
}

nb::object place(Games &games, const nb::object &choices, const std::optional<MaskArray> &mask) {
    require_idle(games);
    const int n = games.count();
    const bool *selected = checked_mask(games, mask);
    const bool both = nb::cast<int>(nb::module_::import_("numpy").attr("ndim")(choices)) == 2;
    const auto given = whole_numbers(choices, "placements", n, both ? 2 : 1, -1, kPlacementIds - 1);
    std::vector<PlacementId> ids(2 * given.size() / (both ? 2 : 1), -1);
    for (size_t i = 0; i < given.size(); ++i) ids[both ? i : 2 * i] = static_cast<PlacementId>(given[i]);
    std::vector<uint8_t> waiting(static_cast<size_t>(n), 0);
    {
        nb::gil_scoped_release unlocked;
        games.place(ids.data(), selected, waiting.data());
    }
    return nb::cast(owned(std::move(waiting), n));
}

}  // namespace

void bind_placements(nb::module_ &m, nb::class_<Games> &games) {
    nb::list names;
    std::vector<uint8_t> most;
    for (const PlacementFeatureName &feature : kPlacementFeatureNames) {
        names.append(feature.name);
        most.push_back(feature.most);
    }
    m.attr("PLACEMENT_FEATURES") = nb::tuple(names);
    m.attr("PLACEMENT_FEATURES_MOST") = nb::bytes(most.data(), most.size());
    games.def("placements", &placements, "seat"_a = 0, "mask"_a = nb::none())
        .def("placement_features", &features, "placements"_a, "seat"_a = 0)
        .def("script", &script, "game"_a, "placement"_a, "seat"_a = 0)
        .def("next_decision", &next_decision, "mask"_a = nb::none())
        .def("place", &place, "placements"_a, "mask"_a = nb::none())
        .def("write_scripts", &write_scripts, "placements"_a, "pads"_a.noconvert(), "lengths"_a.noconvert(),
             "next"_a.noconvert(), "seat"_a = 0, "mask"_a = nb::none())
        .def("follow", &follow, "scripts"_a, "deciders"_a, "totals"_a.noconvert(), "frames"_a.noconvert(),
             "mask"_a = nb::none());
    m.attr("LONGEST_SCRIPT") = +kMostFrames;
}
