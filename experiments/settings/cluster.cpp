// Reads clusters from files.
#include "experiments/settings/cluster.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "core/values/uncertain_value.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {
namespace {

/// By what a change of a file is seen.
using Version = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t>;

Version version_of(const std::filesystem::path& file) {
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return {};
  return {facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
}

/// A SimGrid platform is a parameter of the simulator; any other file is a list of them, which is read once as long as
/// it is the same: a study has many runs on a cluster.
Settings cluster_settings(const std::filesystem::path& file) {
  if (file.extension() == ".xml") return {{"platform", file.string()}};
  static std::mutex mutex;
  static std::map<std::filesystem::path, std::pair<Version, Settings>> read;
  const Version version = version_of(file);
  const std::scoped_lock lock(mutex);
  auto known = read.find(file);
  if (known == read.end() || known->second.first != version)
    known = read.insert_or_assign(file, std::pair(version, read_settings(file))).first;
  return known->second.second;
}

std::filesystem::path file_of(const std::string& text) {
  return find_config("clusters", "cluster", Spec::parse(text).name);
}

Params read_anew(const std::string& text) {
  const Params written = cluster_as_written(text);
  Params cluster(written.owner(), "");
  for (const auto& [key, value] : written.values()) {
    const auto place = [&, &key = key] { return written.owner() + ": '" + key + "': "; };
    cluster.set(key, located(place, [&, &value = value] { return without_range(value); }));
  }
  return cluster;
}

/// A cluster as it was read from a version of its file.
struct KnownCluster {
  std::string text;
  std::filesystem::path file;
  Version version;
  Params cluster;
};

}  // namespace

/// The last one is at hand as long as its file is the same: most runs of a study are on the cluster of the one before.
Params read_cluster(const std::string& text) {
  thread_local KnownCluster last;
  if (last.text != text || last.file.empty() || last.version != version_of(last.file)) {
    const std::filesystem::path file = file_of(text);
    const Version version = version_of(file);
    last = {text, file, version, read_anew(text)};
  }
  return last.cluster;
}

Params cluster_as_written(const std::string& text) {
  const Spec spec = Spec::parse(text);
  const std::filesystem::path file = file_of(text);
  const Params above("cluster " + in_quotes(text), spec.parameters);
  Params cluster("cluster " + in_quotes(spec.name) + " (" + shown(file.string()) + ")", "");
  for (const auto& [key, value] : layered(cluster_settings(file), above.values())) cluster.set(key, value);
  return cluster;
}

}  // namespace trigram
