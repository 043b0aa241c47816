// The part of mario_rl._drmario that says what placements lead to, for policies that score them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>

#include "arguments.hpp"
#include "prospects.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace drmario;

namespace {

using Indices = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Pairs of a game and a seat, each at most once, all waiting for a choice.
class Askers {
  public:
    Askers(Games &games, const Indices &numbers, const Indices &seats)
        : games_(games), numbers_(numbers.data()), seats_(seats.data()), count_(numbers.shape(0)) {
        if (seats.shape(0) != count_) throw nb::value_error("games and seats must be as many");
        rows_.assign(static_cast<size_t>(games.count()), {-1, -1});
        mask_.assign(static_cast<size_t>(games.count()), 0);
        for (size_t i = 0; i < count_; ++i) {
            const int game = numbers_[i], seat = seats_[i];
            if (game < 0 || game >= games.count() || (seat != 0 && seat != 1))
                throw nb::value_error("games are numbered from 0, seats are 0 or 1");
            int32_t &row = rows_[static_cast<size_t>(game)][static_cast<size_t>(seat)];
            if (row >= 0) throw nb::value_error("a game and seat may be asked for once");
            if (!at_decision(games.ram(game), seat))
                throw nb::value_error("no capsule waits for a placement: ask only where one does");
            row = static_cast<int32_t>(i);
            mask_[static_cast<size_t>(game)] = 1;
        }
    }

    size_t count() const { return count_; }

    // Calls work(row, ram, seat) for each of them, on the pool.
    template <typename Work>
    void each(const Work &work) {
        games_.each(reinterpret_cast<const bool *>(mask_.data()), [&](int game) {
            for (int seat = 0; seat < 2; ++seat) {
                const int32_t row = rows_[static_cast<size_t>(game)][static_cast<size_t>(seat)];
                if (row >= 0) work(static_cast<size_t>(row), games_.ram(game), seat);
            }
        });
    }

  private:
    Games &games_;
    const int32_t *numbers_, *seats_;
    size_t count_;
    std::vector<std::array<int32_t, 2>> rows_;
    std::vector<uint8_t> mask_;
};

nb::tuple prospects(Games &games, const Indices &numbers, const Indices &seats, int slots) {
    require_idle(games);
    if (slots < 1 || slots > kMostPlacements) throw nb::value_error("slots must be between 1 and MOST_PLACEMENTS");
    Askers askers(games, numbers, seats);
    const size_t m = askers.count(), width = static_cast<size_t>(slots);
    std::vector<int32_t> counts(m, 0);
    std::vector<PlacementId> ids(m * width, -1);
    std::vector<uint8_t> features(m * width * kProspectFeatures, 0), situations(m * kSituationFeatures, 0);
    {
        nb::gil_scoped_release unlocked;
        askers.each([&](size_t row, const Ram &ram, int seat) {
            thread_local std::vector<Prospect> found;
            find_prospects(ram, seat, found);
            const size_t count = std::min(found.size(), width);
            counts[row] = static_cast<int32_t>(count);
            for (size_t i = 0; i < count; ++i) {
                // They are listed from the top down. Should there be too many, the highest are left out.
                const Prospect &own = found[found.size() - count + i];
                ids[row * width + i] = own.id;
                std::copy(own.bytes.begin(), own.bytes.end(), &features[(row * width + i) * kProspectFeatures]);
            }
            const SituationBytes here = situation(ram, seat);
            std::copy(here.begin(), here.end(), &situations[row * kSituationFeatures]);
        });
    }
    return nb::make_tuple(owned(std::move(counts), m), owned(std::move(ids), m, width),
                          owned(std::move(features), m, width, +kProspectFeatures),
                          owned(std::move(situations), m, +kSituationFeatures));
}

}  // namespace

void bind_prospects(nb::module_ &m, nb::class_<Games> &games) {
    nb::list prospects_names, situation_names;
    for (const FeatureName &feature : kProspectNames) prospects_names.append(feature.name);
    for (const char *side : {"own_", "other_"}) {
        for (const char *name : kBoardFeatureNames) situation_names.append((std::string(side) + name).c_str());
    }
    for (const char *name : kSituationNames) situation_names.append(name);
    m.attr("PROSPECT_FEATURES") = nb::tuple(prospects_names);
    m.attr("SITUATION_FEATURES") = nb::tuple(situation_names);
    m.attr("MOST_PLACEMENTS") = +kMostPlacements;
    games.def("prospects", &prospects, "games"_a, "seats"_a, "slots"_a);
}
