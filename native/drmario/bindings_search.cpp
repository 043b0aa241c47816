// The part of mario_rl._drmario that chooses placements: what fields are worth, ratings, whole games.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cmath>

#include "arguments.hpp"
#include "search.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace drmario;

namespace {

using WeightsArray = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Weights checked_weights(const WeightsArray &given) {
    if (given.shape(0) != kBoardFeatures) {
        throw nb::value_error(("weights must be " + std::to_string(+kBoardFeatures) + " numbers").c_str());
    }
    Weights weights;
    for (size_t i = 0; i < kBoardFeatures; ++i) {
        weights[i] = given.data()[i];
        // Far from the worth of a cleared bottle, however many of a feature there are.
        if (!(std::abs(weights[i]) <= 1000)) throw nb::value_error("weights must be between -1000 and 1000");
    }
    return weights;
}

void check_choice(int plies, int seat) {
    if (plies != 1 && plies != 2) throw nb::value_error("plies must be 1 or 2");
    if (seat != 0 && seat != 1) throw nb::value_error("seat must be 0 or 1");
}

nb::object features(Games &games, int seat) {
    require_idle(games);
    check_choice(1, seat);
    const size_t n = static_cast<size_t>(games.count());
    std::vector<int16_t> values(n * kBoardFeatures);
    for (size_t game = 0; game < n; ++game) {
        const BoardFeatures own = board_features(games.ram(static_cast<int>(game)).fields[seat]);
        std::copy(own.begin(), own.end(), values.begin() + static_cast<std::ptrdiff_t>(game * kBoardFeatures));
    }
    return nb::cast(owned(std::move(values), n, +kBoardFeatures));
}

nb::tuple ratings(Games &games, const WeightsArray &given, int plies, int seat, const std::optional<MaskArray> &mask) {
    require_idle(games);
    check_choice(plies, seat);
    const Weights weights = checked_weights(given);
    const bool *selected = checked_mask(games, mask);
    const size_t n = static_cast<size_t>(games.count());
    std::vector<int32_t> counts(n, 0);
    std::vector<PlacementId> ids;
    std::vector<float> values;
    size_t width = 1;
    {
        nb::gil_scoped_release unlocked;
        std::vector<std::vector<Rating>> found(n);
        games.each(selected, [&](int game) {
            const Ram &ram = games.ram(game);
            if (at_decision(ram, seat)) rate_placements(ram, seat, plies, weights, found[static_cast<size_t>(game)]);
        });
        for (const auto &own : found) width = std::max(width, own.size());
        ids.assign(n * width, -1);
        values.assign(n * width, -INFINITY);
        for (size_t game = 0; game < n; ++game) {
            counts[game] = static_cast<int32_t>(found[game].size());
            for (size_t i = 0; i < found[game].size(); ++i) {
                ids[game * width + i] = found[game][i].id;
                values[game * width + i] = found[game][i].value;
            }
        }
    }
    return nb::make_tuple(owned(std::move(counts), n), owned(std::move(ids), n, width),
                          owned(std::move(values), n, width));
}

nb::object search(Games &games, const WeightsArray &given, int plies, int seat, const std::optional<MaskArray> &mask) {
    require_idle(games);
    check_choice(plies, seat);
    const Weights weights = checked_weights(given);
    const bool *selected = checked_mask(games, mask);
    std::vector<PlacementId> best(static_cast<size_t>(games.count()), -1);
    {
        nb::gil_scoped_release unlocked;
        games.each(selected, [&](int game) {
            const Ram &ram = games.ram(game);
            if (at_decision(ram, seat)) best[static_cast<size_t>(game)] = best_placement(ram, seat, plies, weights);
        });
    }
    return nb::cast(owned(std::move(best), games.count()));
}

nb::object play(Games &games, const WeightsArray &given, int plies, int max_capsules,
                const std::optional<MaskArray> &mask) {
    require_idle(games);
    check_choice(plies, 0);
    if (max_capsules < 0) throw nb::value_error("max_capsules must not be negative");
    const Weights weights = checked_weights(given);
    const bool *selected = checked_mask(games, mask);
    const size_t n = static_cast<size_t>(games.count());
    std::vector<int32_t> capsules(2 * n, 0);
    {
        nb::gil_scoped_release unlocked;
        games.each(selected, [&](int game) {
            games.forget_plans(game);
            play_round(games.ram(game), plies, weights, max_capsules, &capsules[2 * static_cast<size_t>(game)]);
        });
    }
    return nb::cast(owned(std::move(capsules), n, size_t{2}));
}

nb::tuple feature_names() {
    nb::list names;
    for (const char *name : kBoardFeatureNames) names.append(name);
    return nb::tuple(names);
}

}  // namespace

void bind_search(nb::module_ &m, nb::class_<Games> &games) {
    m.attr("BOARD_FEATURES") = feature_names();
    games.def("board_features", &features, "seat"_a = 0)
        .def("ratings", &ratings, "weights"_a, "plies"_a = 1, "seat"_a = 0, "mask"_a = nb::none())
        .def("search", &search, "weights"_a, "plies"_a = 1, "seat"_a = 0, "mask"_a = nb::none())
        .def("play", &play, "weights"_a, "plies"_a = 1, "max_capsules"_a = 1000, "mask"_a = nb::none());
}
