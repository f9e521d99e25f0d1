// A prediction that is asked for over ranges, and what is drawn for it.
#pragma once

#include <string>
#include <vector>

#include "experiments/fit/draws.hpp"
#include "experiments/fit/measurements.hpp"

namespace trigram {

/// What is asked for: a training iteration, or an operation of `trigram bench` on a buffer of `size`.
struct UncertainQuestion {
  Settings run;  ///< all flags, as `resolved` has them, with the ranges of system and cluster
  std::string op, size;
  std::string place = "";  ///< for messages
};

/// All flags of a run but those of its record, as a measurement to be predicted fluidly.
Measurement measurement_of(const UncertainQuestion& question, Settings run);

/// The parameters of a question, and which coordinate of a point each is drawn at.
struct Asked {
  std::vector<UncertainParameter> parameters;
  std::vector<std::size_t> coordinates;

  /// The point of these parameters alone.
  Point own(const Point& point) const;
};

/// Parameters of one name share a coordinate. The names of all, in order, without repeats.
std::vector<std::string> find_coordinates(std::vector<Asked>& all);

}  // namespace trigram
