#include "experiments/record/result_files.hpp"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "experiments/record/expenses.hpp"
#include "experiments/record/member_facts.hpp"
#include "experiments/record/report.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/record/resume/digest.hpp"

namespace trigram {
namespace {

/// Words from elsewhere, as a platform's, may be no UTF-8; a finished training is not lost to them.
std::string text_of(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

nlohmann::json curve(const Training& training) {
  const std::vector<Expense> expenses = expenses_of(training);
  nlohmann::json points = nlohmann::json::array();
  for (const EvalRow& row : evaluations(training.ranks)) {
    points.push_back({{"step", row.step},
                      {"steps_mean", row.steps_mean},
                      {"time_s", row.time_s},
                      {"loss", row.loss},
                      {"accuracy", row.accuracy},
                      {"bytes_mean", row.bytes_sent}});
    for (const Expense& expense : expenses) points.back()[expense.name] = expense.of(used_until(row, training));
  }
  return points;
}

nlohmann::json weights_facts(const Training& training) {
  std::vector<std::uint64_t> digests;
  for (const RankReport& report : training.ranks) {
    if (report.weights_digest != 0) digests.push_back(report.weights_digest);
  }
  if (digests.empty()) return nullptr;
  const bool equal = std::ranges::count(digests, digests.front()) == std::ssize(digests);
  if (equal) digests.resize(1);
  std::string text;
  for (const std::uint64_t one : digests) {
    std::ostringstream hexadecimal;
    hexadecimal << std::hex << std::setw(16) << std::setfill('0') << one;
    text += hexadecimal.str();
  }
  return {{"digest", equal ? text : digest(text)}, {"equal_on_all_ranks", equal}};
}

void write_results(const std::filesystem::path& folder, bool trace, const LaneLayout& layout, const Training& training,
                   const nlohmann::json& run) {
  std::vector<NewFile> files;
  const auto add = [&](const char* name) -> NewFile& { return files.emplace_back(folder / name); };
  add("steps.csv").write(steps_csv(training));
  add("evals.csv").write(evals_csv(training));
  if (trace) {
    NewFile& file = add("trace.json");
    write_trace(training.ranks, layout, [&](std::string_view piece) { file.write(piece); });
  }
  if (run.contains("membership")) add("epochs.csv").write(epochs_csv(run["membership"]));
  add("run.json").write(text_of(run));
  std::error_code ignored;
  std::filesystem::remove(folder / "run.json", ignored);
  if (!trace) std::filesystem::remove(folder / "trace.json", ignored);
  if (!run.contains("membership")) std::filesystem::remove(folder / "epochs.csv", ignored);
  for (NewFile& file : files) file.keep();
}

}  // namespace trigram
