#include "experiments/fit/draws.hpp"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/sobol.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>

#include "experiments/settings/cluster.hpp"

namespace trigram {
namespace {

const std::string of_cluster = "cluster.";

}  // namespace

std::vector<UncertainParameter> uncertain_parameters(const Settings& run) {
  std::vector<UncertainParameter> found;
  for (const auto& [key, value] : run) {
    if (key == "cluster") continue;
    if (const auto range = uncertain_value(value)) found.push_back({key, *range});
  }
  const auto cluster = run.find("cluster");
  if (cluster == run.end() || cluster->second.empty()) return found;
  const Params written = cluster_as_written(cluster->second);
  for (const auto& [key, value] : written.values()) {
    if (const auto range = uncertain_value(value)) found.push_back({of_cluster + key, *range});
  }
  return found;
}

// The sequence begins with the point of zeros; shifted by a random amount, modulo 1, each point is uniform by itself.
std::vector<Point> low_discrepancy_points(std::size_t dimensions, int count, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::uniform_01<double> uniform;
  Point shift(dimensions);
  for (double& one : shift) one = uniform(random);
  std::vector<Point> points(static_cast<std::size_t>(count), Point(dimensions));
  if (dimensions == 0) return points;
  boost::random::sobol sequence(dimensions);
  constexpr double two_to_64 = 0x1p64;
  for (Point& point : points) {
    for (std::size_t i = 0; i < dimensions; ++i) {
      const double here = static_cast<double>(sequence()) / two_to_64 + shift[i];
      point[i] = here - std::floor(here);
    }
  }
  return points;
}

Settings drawn(const Settings& run, const std::vector<UncertainParameter>& parameters, const Point& point) {
  Settings settings = run;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [key, value] = parameters[i];
    const std::string text = at_quantile(value, point[i]);
    if (key.starts_with(of_cluster)) {
      settings["cluster"] = with_parameter(settings["cluster"], key.substr(of_cluster.size()), text);
    } else {
      settings[key] = text;
    }
  }
  return settings;
}

}  // namespace trigram
