#include "experiments/record/resume/stopped_run.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/values/error.hpp"
#include "experiments/record/report.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/record/result_files.hpp"
#include "experiments/settings/files/text_file.hpp"

namespace trigram {
namespace {

/// Adds a report of one row, or one evaluation, to that of its rank.
void add(RankReport& all, const RankReport& one) {
  all.rank = one.rank;
  all.evals.insert(all.evals.end(), one.evals.begin(), one.evals.end());
  for (const StepRow& row : one.steps) {
    all.sent.bytes += row.bytes_sent;
    all.sent_to_other_nodes += row.bytes_between_nodes;
    all.busy_s += row.busy_s;
    all.steps.push_back(row);
    for (const auto& [column, values] : one.recorded) all.recorded[column].resize(all.steps.size() - 1, std::nan(""));
    for (auto& [column, values] : all.recorded) {
      const auto found = one.recorded.find(column);
      values.push_back(found == one.recorded.end() ? std::nan("") : found->second.front());
    }
  }
}

/// The seconds from the begin of its first row to the end of its last one.
double seconds_of(const RankReport& report) {
  if (report.steps.empty()) return 0;
  const StepRow& first = report.steps.front();
  return report.steps.back().time_s - first.time_s + first.compute_s + first.exposed_s;
}

bool holds_finished_run(const std::filesystem::path& folder) {
  const std::optional<std::string> text = read_text(folder / "run.json");
  if (!text) return false;
  const nlohmann::json run = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return run.is_object() && !run.contains("stopped");
}

}  // namespace

RowsSoFar::RowsSoFar() : memory_(::memfd_create("rows of a run", MFD_CLOEXEC)) {
  if (memory_ < 0) throw BackendError(std::string("cannot keep rows of the run: ") + std::strerror(errno));
}

RowsSoFar::~RowsSoFar() { ::close(memory_); }

void RowsSoFar::ask_for(TrainingOptions& options) const {
  options.on_row = [this](const StepRow& row, const Records& recorded) {
    RankReport report;
    report.rank = row.rank;
    report.steps.push_back(row);
    for (const auto& [column, value] : recorded) report.recorded[column] = {value};
    write(report);
  };
  options.on_evaluation = [this](const EvalRow& row) {
    RankReport report;
    report.evals.push_back(row);
    write(report);
  };
}

/// In one call, since several processes may write.
void RowsSoFar::write(const RankReport& report) const {
  const std::vector<std::byte> packed = pack(report);
  const std::uint64_t size = packed.size();
  std::vector<std::byte> entry(sizeof size);
  std::memcpy(entry.data(), &size, sizeof size);
  entry.insert(entry.end(), packed.begin(), packed.end());
  static_cast<void>(!::write(memory_, entry.data(), entry.size()));  // a run does not end because it could not be kept
}

Training RowsSoFar::training() const {
  std::map<int, RankReport> ranks;
  std::uint64_t size = 0;
  for (off_t at = 0; ::pread(memory_, &size, sizeof size, at) == sizeof size;) {
    std::vector<std::byte> packed(size);
    at += static_cast<off_t>(sizeof size);
    if (::pread(memory_, packed.data(), size, at) != static_cast<ssize_t>(size)) break;
    at += static_cast<off_t>(size);
    const RankReport one = unpack(packed);
    add(ranks[one.rank], one);
  }
  Training training;
  for (auto& [rank, report] : ranks) {
    report.steps_done = static_cast<std::int64_t>(report.steps.size());
    report.training_seconds = seconds_of(report);
    report.local_batch = 1;
    if (!report.steps.empty()) training.seconds = std::max(training.seconds, report.steps.back().time_s);
    training.ranks.push_back(std::move(report));
  }
  return training;
}

std::filesystem::path write_stopped_run(const std::filesystem::path& folder, const Training& training,
                                        nlohmann::json run, std::int64_t steps, const std::string& reason,
                                        std::int64_t global_batch, bool simulated) {
  if (training.ranks.empty() || training.ranks.front().steps_done == 0) return {};
  const std::int64_t done = training.ranks.front().steps_done;
  run["stopped"] = "after " + std::to_string(done) + " of " + std::to_string(steps) + " steps: " + reason;
  run["backend"] = {{"warnings", {"this run is not whole: it ended early, " + run["stopped"].get<std::string>()}}};
  run["summary"] = summarize(training, global_batch, simulated);
  run["summary"]["wall_s"] = nullptr;
  run["error_bar"] = nullptr;
  run["curve"] = curve(training);
  const std::filesystem::path place = holds_finished_run(folder) ? folder / "stopped" : folder;
  const ResultFolder made(place, {"steps.csv", "evals.csv", "run.json"});
  write_results(place, /*trace=*/false, LaneLayout(), training, run);
  return place;
}

}  // namespace trigram
