// Reads run.json with suspicion: it may be cut, edited, or of another run.
#include "experiments/record/expenses.hpp"
#include "experiments/record/resume/digest.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/settings/files/text_file.hpp"

namespace trigram {
namespace {

bool is_score(const nlohmann::json& value) { return value.is_number() || value.is_null(); }

bool is_point(const nlohmann::json& point) {
  if (!point.is_object()) return false;
  for (const char* key : {"step", "time_s", "bytes_mean"}) {
    if (!point.contains(key) || !point[key].is_number()) return false;
  }
  if (point.contains("steps_mean") && !point["steps_mean"].is_number()) return false;
  for (const char* key : expense_names) {
    if (point.contains(key) && !point[key].is_number()) return false;
  }
  return point.contains("loss") && is_score(point["loss"]) && point.contains("accuracy") && is_score(point["accuracy"]);
}

/// What readers of a run rely on.
bool is_run(const nlohmann::json& run) {
  if (!run.is_object() || !run.contains("summary") || !run["summary"].is_object()) return false;
  if (!run.contains("curve") || !run["curve"].is_array()) return false;
  for (const nlohmann::json& point : run["curve"]) {
    if (!is_point(point)) return false;
  }
  return true;
}

/// The first of the files that the run was made from whose content is another by now; empty where there is none.
std::string changed_file(const nlohmann::json& run, FileDigests& digests) {
  if (!run.contains("inputs") || !run["inputs"].is_object()) return "a file that nobody knows";
  for (const auto& [path, then] : run["inputs"].items()) {
    if (!digests.contains(path)) digests[path] = file_digest(path);
    if (then != digests[path]) return "'" + path + "'";
  }
  return "";
}

}  // namespace

RecordedRun read_run(const std::filesystem::path& folder, const std::string& identity, FileDigests& digests) {
  std::error_code error;
  const std::filesystem::path path = folder / "run.json";
  const auto type = std::filesystem::symlink_status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return {};
  if (type != std::filesystem::file_type::regular) return {nullptr, "it is no regular file"};
  const std::optional<std::string> text = read_text(path);
  if (!text) return {nullptr, "it cannot be read"};
  if (text->empty()) return {nullptr, "it is empty"};
  nlohmann::json run = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (run.is_discarded()) return {nullptr, "it is no whole JSON"};
  if (run.is_object() && run.contains("stopped")) return {nullptr, "it is of a run that ended early"};
  if (!is_run(run)) return {nullptr, "it is no record of a run"};
  if (!run.contains("identity") || run["identity"] != identity) return {nullptr, "it is of another run"};
  const std::string changed = changed_file(run, digests);
  if (!changed.empty()) return {nullptr, "it was made from another content of " + changed};
  return {std::move(run), ""};
}

}  // namespace trigram
