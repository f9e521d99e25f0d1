#include "experiments/record/resume/checkpoint_folder.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iomanip>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/record/resume/going_on.hpp"
#include "experiments/settings/files/text_file.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

constexpr int format = 4;
constexpr std::string_view stem = "checkpoint-";
constexpr std::string_view manifest_end = ".json";

std::string crc_of(std::string_view bytes) {
  const auto value = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  std::ostringstream text;
  text << std::hex << std::setw(8) << std::setfill('0') << value;
  return text.str();
}

std::string manifest_name(std::int64_t steps) {
  return std::string(stem) + std::to_string(steps) + std::string(manifest_end);
}

/// What a file of a checkpoint is called behind its stem, "100.json"; nothing for other files.
std::optional<std::int64_t> steps_of(const std::string& name, std::string& rest) {
  if (!name.starts_with(stem)) return std::nullopt;
  std::int64_t steps = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + stem.size(), end, steps);
  if (read.ec != std::errc() || steps < 1) return std::nullopt;
  rest.assign(read.ptr, end);
  return steps;
}

/// Manifests by step.
std::map<std::int64_t, fs::path> manifests_in(const fs::path& folder) {
  std::map<std::int64_t, fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string rest;
    const auto steps = steps_of(entry->path().filename().string(), rest);
    if (steps && rest == manifest_end) found[*steps] = entry->path();
  }
  return found;
}

bool is_shard(const nlohmann::json& shard) {
  return shard.is_object() && shard.contains("file") && shard["file"].is_string() && shard.contains("bytes") &&
         shard["bytes"].is_number_unsigned() && shard.contains("crc32") && shard["crc32"].is_string();
}

/// What readers of a manifest rely on.
bool is_manifest(const nlohmann::json& content) {
  if (!content.is_object() || !content.contains("crc32") || !content.contains("format")) return false;
  if (!content.contains("steps") || !content["steps"].is_number_integer()) return false;
  if (!content.contains("configuration") || !content["configuration"].is_object()) return false;
  for (const nlohmann::json& value : content["configuration"]) {
    if (!value.is_string()) return false;
  }
  return content.contains("shards") && content["shards"].is_array() && std::ranges::all_of(content["shards"], is_shard);
}

std::string why_unreadable() { return errno == ENOENT ? "it is missing" : std::strerror(errno); }

/// A manifest, or what is wrong with it.
nlohmann::json read_manifest(const fs::path& path, std::string& problem) {
  const std::optional<std::string> text = read_text(path);
  if (!text) return problem = why_unreadable(), nullptr;
  nlohmann::json content = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!is_manifest(content)) return problem = "it is no whole manifest", nullptr;
  const nlohmann::json crc = content["crc32"];
  content.erase("crc32");
  if (crc != crc_of(content.dump())) return problem = "its content has another checksum than it says", nullptr;
  if (content["format"] != format) problem = "it is of another version of the program";
  return content;
}

/// The content of a rank's file, or what is wrong with it.
std::string read_shard(const fs::path& folder, const nlohmann::json& shard, std::string& problem) {
  const auto bytes = shard["bytes"].get<std::size_t>();
  const fs::path path = folder / shard["file"].get<std::string>();
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return problem = "it is no file", "";
  std::optional<std::string> text = read_text(path);
  if (!text) return problem = why_unreadable(), "";
  if (text->size() != bytes) {
    problem = "it has " + std::to_string(text->size()) + " bytes, and was written with " + std::to_string(bytes);
  } else if (const std::string crc = crc_of(*text); crc != shard["crc32"].get<std::string>()) {
    problem = "its checksum is " + crc + ", and was " + shard["crc32"].get<std::string>() + " when it was written";
  }
  return std::move(*text);
}

/// What is wrong with a checkpoint, as "'FILE': its …"; empty where it is whole.
std::string damage(const fs::path& manifest, nlohmann::json& content) {
  std::string problem;
  content = read_manifest(manifest, problem);
  if (!problem.empty()) return in_quotes(manifest.native()) + " cannot be used: " + problem;
  for (const nlohmann::json& shard : content["shards"]) {
    read_shard(folder_of(manifest), shard, problem);
    if (problem.empty()) continue;
    return in_quotes((folder_of(manifest) / shard["file"].get<std::string>()).native()) + " is damaged: " + problem;
  }
  return "";
}

/// The last whole checkpoint before this one, as an offer.
std::string one_before(const fs::path& manifest) {
  std::string rest;
  const auto steps = steps_of(manifest.filename().string(), rest);
  const auto all = manifests_in(folder_of(manifest));
  for (auto one = std::make_reverse_iterator(steps ? all.lower_bound(*steps) : all.begin()); one != all.rend(); ++one) {
    nlohmann::json content;
    if (damage(one->second, content).empty())
      return "the one before it is whole: go on from there with --resume " + in_quotes(one->second.native());
  }
  return "no other one before it is whole";
}

fs::path manifest_at(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    require(
        fs::is_regular_file(path, ignored), "--resume ", [&] { return in_quotes(path.native()); },
        " is neither a folder of checkpoints nor a manifest of one; give what --checkpoint was given");
    return path;
  }
  const auto all = manifests_in(path);
  require(
      !all.empty(), "--resume ", [&] { return in_quotes(path.native()); },
      " holds no checkpoint (no file checkpoint-STEPS.json); leave --resume out to begin");
  return all.rbegin()->second;
}

/// "algorithm=a then and algorithm=b now; …"
std::string differences(const Configuration& then, const Configuration& now) {
  std::set<std::string> keys;
  for (const auto& [key, value] : then) keys.insert(key);
  for (const auto& [key, value] : now) keys.insert(key);
  std::string text;
  const auto setting = [](const Configuration& of, const std::string& key) {
    const auto found = of.find(key);
    return found == of.end() ? "no " + key : key + "=" + shown(found->second);
  };
  for (const std::string& key : keys) {
    const std::string before = setting(then, key), after = setting(now, key);
    if (before != after) text += (text.empty() ? "" : "; ") + before + " then and " + after + " now";
  }
  return text;
}

void remove_all_but(const fs::path& folder, const std::set<std::string>& kept, std::int64_t before) {
  std::vector<fs::path> gone;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string rest;
    const std::string name = entry->path().filename().string();
    const auto steps = steps_of(name, rest);
    const bool is_ours = steps && (rest == manifest_end || rest.starts_with(".rank-"));
    if (is_ours && *steps != before && !kept.contains(name)) gone.push_back(entry->path());
  }
  // Manifests first: what is without one is no checkpoint any more.
  std::ranges::stable_partition(gone, [](const fs::path& path) { return path.extension() == manifest_end; });
  for (const fs::path& path : gone) fs::remove(path, error);
}

}  // namespace

std::vector<std::byte> CheckpointFolder::write(std::int64_t steps, int rank,
                                               const std::vector<std::byte>& state) const {
  const std::string_view content(reinterpret_cast<const char*>(state.data()), state.size());
  const std::string crc = crc_of(content);
  const std::string name = std::string(stem) + std::to_string(steps) + ".rank-" + std::to_string(rank) + "." + crc;
  write_file(path_ / name, content);
  const std::string entry = nlohmann::json{{"file", name}, {"bytes", state.size()}, {"crc32", crc}}.dump();
  const auto bytes = std::as_bytes(std::span(entry));
  return {bytes.begin(), bytes.end()};
}

void CheckpointFolder::keep(std::int64_t steps, const std::vector<std::vector<std::byte>>& written) const {
  nlohmann::json manifest = {{"format", format}, {"steps", steps}, {"configuration", configuration_}};
  std::set<std::string> kept{manifest_name(steps)};
  for (const std::vector<std::byte>& entry : written) {
    const char* text = reinterpret_cast<const char*>(entry.data());
    manifest["shards"].push_back(nlohmann::json::parse(text, text + entry.size()));
    kept.insert(manifest["shards"].back()["file"].get<std::string>());
  }
  // Paths of data files may be no UTF-8, and are read again as what was written.
  manifest = nlohmann::json::parse(manifest.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  manifest["crc32"] = crc_of(manifest.dump());
  write_file(path_ / manifest_name(steps), manifest.dump(2) + "\n");
  std::int64_t before = 0;
  for (const auto& [other, path] : manifests_in(path_)) {
    if (other < steps) before = other;
  }
  remove_all_but(path_, kept, before);
}

std::int64_t last_checkpoint(const fs::path& path) {
  const auto all = manifests_in(path);
  return all.empty() ? 0 : all.rbegin()->first;
}

void require_no_other_checkpoints(const fs::path& path, const fs::path& resume) {
  const auto all = manifests_in(path);
  if (all.empty()) return;
  std::error_code ignored;
  const bool goes_on =
      !resume.empty() && (fs::equivalent(path, resume, ignored) || fs::equivalent(path, folder_of(resume), ignored));
  require(
      goes_on, "--checkpoint ", [&] { return in_quotes(path.native()); },
      " holds checkpoints already, the last after step ", all.rbegin()->first,
      "; go on from it with --resume, or give another folder");
}

FoundCheckpoint::FoundCheckpoint(const fs::path& path, const Configuration& configuration, int ranks,
                                 const std::function<int(int)>& training)
    : manifest_(manifest_at(path)) {
  const std::string problem = damage(manifest_, content_);
  require(problem.empty(), problem, "; ", [&] { return one_before(manifest_); });
  const std::string name = in_quotes(manifest_.native());
  const std::size_t then = content_["shards"].size();
  Configuration before = content_["configuration"].get<Configuration>(), now = configuration;
  located([&] { return name + ": "; }, [&] { allow_other_steps(before, now, steps()); });
  if (then != static_cast<std::size_t>(ranks)) {
    before.erase("ranks");
    now.erase("ranks");
  }
  const std::string other = differences(before, now);
  require(other.empty(), name, " was written by a run with other settings: ", other, "; go on with the same");
  if (then == static_cast<std::size_t>(ranks)) return;
  located(
      [&] {
        return name + " is of " + std::to_string(then) + " ranks, and this run has " + std::to_string(ranks) + ": ";
      },
      [&] {
        const int members = static_cast<int>(then);
        const auto change = MemberChange::of_size(members, training(members), ranks, training(ranks));
        handover_.emplace(change, [this](int rank) { return written(rank); });
      });
}

std::int64_t FoundCheckpoint::steps() const { return content_["steps"].get<std::int64_t>(); }

std::vector<std::byte> FoundCheckpoint::state(int rank) const {
  return handover_ ? handover_->of(rank) : written(rank);
}

std::vector<std::byte> FoundCheckpoint::written(int rank) const {
  std::string problem;
  const nlohmann::json& shard = content_["shards"][static_cast<std::size_t>(rank)];
  const std::string text = read_shard(folder_of(manifest_), shard, problem);
  require(
      problem.empty(), [&] { return in_quotes((folder_of(manifest_) / shard["file"].get<std::string>()).native()); },
      " is damaged: ", problem);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace trigram
