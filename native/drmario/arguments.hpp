// What the bindings take from Python: scalars or arrays, checked, one value per game.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <string>
#include <vector>

#include "games.hpp"

namespace drmario {

using PadsArray = nanobind::ndarray<const uint8_t, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using MaskArray = nanobind::ndarray<const bool, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// While games run without the GIL, other Python threads must not touch them.
inline void require_idle(const Games &games) {
    if (games.running()) throw std::runtime_error("these games are being stepped by another thread");
}

inline Ram &ram_of(Games &games, int game) {
    require_idle(games);
    if (game < 0 || game >= games.count()) {
        throw nanobind::index_error(("game " + std::to_string(game) + " of " + std::to_string(games.count())).c_str());
    }
    return games.ram(game);
}

inline const bool *checked_mask(const Games &games, const std::optional<MaskArray> &mask) {
    if (!mask) return nullptr;
    if (static_cast<int>(mask->shape(0)) != games.count())
        throw nanobind::value_error("mask must have one entry per game");
    return mask->data();
}

// A whole number or an array of them, spread over count x columns values, each between least and most.
inline std::vector<int64_t> whole_numbers(const nanobind::object &value, const char *name, int count, int columns,
                                          int64_t least, int64_t most) {
    namespace nb = nanobind;
    const nb::module_ numpy = nb::module_::import_("numpy");
    nb::object array = numpy.attr("asarray")(value);
    const std::string kind = nb::cast<nb::str>(array.attr("dtype").attr("kind")).c_str();
    const std::string what(name);
    if (kind != "i" && kind != "u" && kind != "b") throw nb::value_error((what + " must be whole numbers").c_str());
    array = array.attr("astype")("int64");
    if (columns > 1 && nb::cast<int>(array.attr("ndim")) == 1) array = array.attr("reshape")(-1, 1);
    nb::object spread;
    try {
        const nb::tuple shape = columns > 1 ? nb::make_tuple(count, columns) : nb::make_tuple(count);
        spread = numpy.attr("ascontiguousarray")(numpy.attr("broadcast_to")(array, shape));
    } catch (const nb::python_error &) {
        std::string sizes = "one number, or " + std::to_string(count);
        if (columns > 1)
            sizes += ", or an array of shape (" + std::to_string(count) + ", " + std::to_string(columns) + ")";
        throw nb::value_error((what + " must be " + sizes).c_str());
    }
    const auto view = nb::cast<nb::ndarray<const int64_t, nb::c_contig, nb::device::cpu>>(spread);
    const std::vector<int64_t> numbers(view.data(), view.data() + view.size());
    for (const int64_t number : numbers) {
        if (number < least || number > most) {
            throw nb::value_error((what + " must be between " + std::to_string(least) + " and " + std::to_string(most) +
                                   ", not " + std::to_string(number))
                                      .c_str());
        }
    }
    return numbers;
}

// A NumPy array that owns its values.
template <typename T, typename... Shape>
auto owned(std::vector<T> values, Shape... shape) {
    namespace nb = nanobind;
    auto *heap = new std::vector<T>(std::move(values));
    nb::capsule owner(heap, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return nb::ndarray<nb::numpy, T>(heap->data(), {static_cast<size_t>(shape)...}, owner);
}

}  // namespace drmario
