#include "experiments/program/studies/prediction_cells.hpp"

#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "core/values/quoted.hpp"
#include "experiments/fit/predictions/prediction_cell.hpp"
#include "experiments/fit/predictions/predictor.hpp"
#include "experiments/record/report_file.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(std::istream& input) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  return lines;
}

}  // namespace

fs::path predictions_of(const fs::path& folder) { return folder / "predictions"; }

fs::path plan_file(const fs::path& folder) { return folder / "plan.jsonl"; }

void plan_predictions(const fs::path& folder, const std::vector<PredictionTask>& tasks) {
  std::set<std::string> planned;
  NewFile file(plan_file(folder));
  for (const PredictionTask& task : tasks) {
    if (planned.insert(task.identity).second) file.write(prediction_line(task) + "\n");
  }
  file.keep();
  std::cout << planned.size() << " predictions to make in " << plan_file(folder).string()
            << "; more may follow, which these decide: plan again once they are made\n";
}

void make_predictions(const std::vector<std::string>& lines, const fs::path& folder, int jobs) {
  std::map<std::string, PredictionTask> tasks;
  for (const std::string& line : lines) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const PredictionTask task = read_prediction(line);
    tasks.emplace(task.identity, task);
  }
  std::vector<PlannedMeasurement> planned;
  planned.reserve(tasks.size());
  for (const auto& [identity, task] : tasks) planned.push_back({&task.row, task.cluster, task.parameters});
  Predictor predictor({jobs, predictions_of(folder)}, [&](const std::string& identity, double seconds) {
    const auto task = tasks.find(identity);
    require(task != tasks.end(),
            "a prediction of this plan is another here: its cluster's file has changed, or is "
            "another at this path; plan again");
    std::cout << prediction_cost(task->second, seconds) << std::flush;
  });
  predictor.predict(planned);
}

std::vector<std::string> lines_of_cells(const std::string& file, const std::string& owner) {
  if (file == "-") return lines_of(std::cin);
  std::ifstream input(file);
  require(input.is_open() && !fs::is_directory(file), owner, ": --cells ", shown(file),
          " is no file that can be read; --plan writes such a file");
  return lines_of(input);
}

}  // namespace trigram
