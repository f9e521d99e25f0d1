// Values for what is not known exactly, drawn from its ranges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/values/uncertain_value.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {

/// A flag of a run, or "cluster.KEY" or "profile.KEY", whose value has a range.
struct UncertainParameter {
  std::string key;
  UncertainValue value;
};

/// Those of a run's flags, of its profile and of its cluster, in the order of keys of each. Throws UsageError as
/// `read_cluster` does.
std::vector<UncertainParameter> uncertain_parameters(const Settings& run);

/// Whether a run's workload is a profile: shipped, or of a file.
bool is_profile(const Settings& run);

/// A point of [0, 1) for each dimension.
using Point = std::vector<double>;

/// So many points of Sobol's sequence (Joe & Kuo's numbers, of Boost.Random), shifted by what the seed says: each
/// coordinate is spread evenly, and so is each pair. The same for the same seed.
std::vector<Point> low_discrepancy_points(std::size_t dimensions, int count, std::uint64_t seed);

/// The run with every parameter at the quantile that the point has for it.
Settings drawn(const Settings& run, const std::vector<UncertainParameter>& parameters, const Point& point);

}  // namespace trigram
