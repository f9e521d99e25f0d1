#include "experiments/study/runs/unmade_runs.hpp"

#include "experiments/settings/files/text_file.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

RunFailure failure_of(const fs::path& place) {
  if (!has_failed(place)) return {"it has not been made", true};
  constexpr std::size_t longest = 4096;
  const std::string text = read_text(place / "log.txt", longest).value_or("");
  const std::string message = text.substr(0, text.find_last_not_of('\n') + 1);
  return {message.empty() ? "it left no message; was it killed, or is the disk full?" : message};
}

}  // namespace

bool has_failed(const fs::path& place) {
  std::error_code ignored;
  return fs::exists(place / "log.txt", ignored) && !fs::exists(place / "run.json", ignored);
}

RunFailures UnmadeRuns::make(std::vector<RunTask> tasks, const std::string& /*phase*/) {
  RunFailures failures;
  for (RunTask& task : tasks) {
    const fs::path place = task.config.out;
    failures.emplace(place, failure_of(place));
    if (tell_) tell_(std::move(task));
  }
  return failures;
}

}  // namespace trigram
