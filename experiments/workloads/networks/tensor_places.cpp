#include "experiments/workloads/networks/tensor_places.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "core/values/error.hpp"

namespace trigram {
namespace {

/// What a tensor is placed by.
struct Seen {
  bool matrix = false;
  double middle = 0;  ///< in [0, 1]
};

std::vector<Seen> seen(const std::vector<Parameter>& parameters, std::int64_t Parameter::*count,
                       Dimensions Parameter::*dimensions) {
  double total = 0;
  for (const Parameter& parameter : parameters) total += static_cast<double>(parameter.*count);
  std::vector<Seen> all;
  double before = 0;
  for (const Parameter& parameter : parameters) {
    const auto elements = static_cast<double>(parameter.*count);
    all.push_back({(parameter.*dimensions).size() >= 2, (before + elements / 2) / total});
    before += elements;
  }
  return all;
}

/// How bad a choice is; pairs compare by their first members first.
using Misfit = std::pair<int, double>;

Misfit misfit(const Seen& tensor, const Seen& place) {
  return {tensor.matrix == place.matrix ? 0 : 1, std::abs(tensor.middle - place.middle)};
}

}  // namespace

std::vector<std::size_t> tensor_places(const std::vector<Parameter>& model, const std::vector<Parameter>& profile,
                                       const std::string& whose) {
  require(model.size() <= profile.size(), whose, ": each of the model's ", model.size(),
          " tensors needs one of the profile's, which has ", profile.size(),
          "; give a model with fewer layers or a profile with more");
  const std::vector<Seen> tensors = seen(model, &Parameter::count, &Parameter::dimensions);
  const std::vector<Seen> places = seen(profile, &Parameter::modelled_count, &Parameter::modelled_dimensions);
  // least[p]: of the first t tensors among the first p places; takes[t][p]: whether tensor t is then in place p.
  constexpr Misfit impossible{std::numeric_limits<int>::max(), 0};
  std::vector<Misfit> least(places.size() + 1, Misfit{0, 0});
  std::vector<std::vector<bool>> takes;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    std::vector<Misfit> with(places.size() + 1, impossible);
    std::vector<bool>& here = takes.emplace_back(places.size(), false);
    for (std::size_t p = t; p < places.size(); ++p) {
      const Misfit added = misfit(tensors[t], places[p]);
      const Misfit taken{least[p].first + added.first, least[p].second + added.second};
      here[p] = taken < with[p];
      with[p + 1] = here[p] ? taken : with[p];
    }
    least = std::move(with);
  }
  std::vector<std::size_t> chosen(tensors.size());
  std::size_t p = places.size();
  for (std::size_t t = tensors.size(); t-- > 0;) {
    while (!takes[t][p - 1]) --p;
    chosen[t] = --p;
  }
  return chosen;
}

}  // namespace trigram
