// Reads clusters from files.
#include "experiments/settings/cluster.hpp"

#include "core/quoted.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {
namespace {

/// A SimGrid platform is a parameter of the simulator; any other file is a list of them.
Settings cluster_settings(const std::filesystem::path& file) {
  if (file.extension() == ".xml") return {{"platform", file.string()}};
  return read_settings(file);
}

}  // namespace

Params read_cluster(const std::string& text) {
  const Spec spec = Spec::parse(text);
  const std::filesystem::path file = find_config("clusters", "cluster", spec.name);
  const Params above("cluster " + in_quotes(text), spec.parameters);
  Params cluster("cluster " + in_quotes(spec.name) + " (" + shown(file.string()) + ")", "");
  for (const auto& [key, value] : layered(cluster_settings(file), above.values())) cluster.set(key, value);
  return cluster;
}

}  // namespace trigram
