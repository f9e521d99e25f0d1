#include "experiments/fit/draws.hpp"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/sobol.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <optional>

#include "core/registry/registry.hpp"
#include "core/values/units.hpp"
#include "experiments/settings/cluster.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/workloads/profile_table.hpp"
#include "experiments/workloads/shipped_profiles.hpp"

namespace trigram {
namespace {

const std::string of_cluster = "cluster.", of_profile = "profile.";

/// The flag that names a profile, and the workload that it is; nothing where other things are trained.
struct ProfileFlag {
  std::string key;
  Spec workload;
};

std::optional<ProfileFlag> profile_flag(const Settings& run) {
  const auto given = [&](const char* key) {
    const auto found = run.find(key);
    return found == run.end() ? std::string() : found->second;
  };
  if (const std::string profile = given("profile"); !profile.empty())
    return ProfileFlag{"profile", Spec::parse(profile_workload(profile))};
  if (given("workload").empty()) return std::nullopt;
  return ProfileFlag{"workload", Spec::parse(given("workload"))};
}

/// Where its table is; empty where it is no profile.
std::string table_of(const Spec& workload, const Params& given) {
  if (workload.name == "profile") return given.has("file") ? given.values().at("file") : "";
  const auto shipped = shipped_profiles();
  const auto found = shipped.find(workload.name);
  return found == shipped.end() ? "" : found->second.string();
}

/// As many times as large.
UncertainValue scaled(const UncertainValue& value, double factor) {
  const auto times = [&](const std::string& text) {
    return number_text(factor * parse_quantity(text, Unit::seconds)) + "s";
  };
  return {times(value.value), times(value.least), times(value.most)};
}

/// Ranges of a profile's table that no parameter beside its name decides. Its compute is that of the table's batch.
void add_of_profile(const Settings& run, std::vector<UncertainParameter>& found) {
  const std::optional<ProfileFlag> flag = profile_flag(run);
  if (!flag) return;
  const Params given(flag->key, flag->workload.parameters);
  const std::string path = table_of(flag->workload, given);
  if (path.empty()) return;
  const auto table = shared_profile_table(path);
  const double batch = given.has("batch") ? std::stod(given.values().at("batch")) : 0;
  const double batches = batch > 0 ? batch / static_cast<double>(table->batch) : 1;
  for (const auto& [key, range] : table->ranges) {
    if (!given.has(key)) found.push_back({of_profile + key, key == "compute" ? scaled(range, batches) : range});
  }
}

}  // namespace

std::vector<UncertainParameter> uncertain_parameters(const Settings& run) {
  std::vector<UncertainParameter> found;
  for (const auto& [key, value] : run) {
    if (key == "cluster") continue;
    if (const auto range = uncertain_value(value)) found.push_back({key, *range});
  }
  add_of_profile(run, found);
  const auto cluster = run.find("cluster");
  if (cluster == run.end() || cluster->second.empty()) return found;
  const Params written = cluster_as_written(cluster->second);
  for (const auto& [key, value] : written.values()) {
    if (const auto range = uncertain_value(value)) found.push_back({of_cluster + key, *range});
  }
  return found;
}

bool is_profile(const Settings& run) {
  const std::optional<ProfileFlag> flag = profile_flag(run);
  return flag && !table_of(flag->workload, Params(flag->key, flag->workload.parameters)).empty();
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
    } else if (key.starts_with(of_profile)) {
      std::string& flag = settings[profile_flag(run)->key];
      flag = with_parameter(flag, key.substr(of_profile.size()), text);
    } else {
      settings[key] = text;
    }
  }
  return settings;
}

}  // namespace trigram
