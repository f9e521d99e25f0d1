#include "experiments/study/runs/run_costs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace trigram {
namespace {

constexpr const char* file_name = "costs.jsonl";

bool is_cost(const nlohmann::json& line) {
  return line.is_object() && line.contains("like") && line["like"].is_string() && line.contains("row") &&
         line["row"].is_string() && line.contains("seconds") && line["seconds"].is_number() &&
         line.contains("memory") && line["memory"].is_number();
}

}  // namespace

std::string cost_line(const RunTask& task, const RunCost& cost) {
  nlohmann::ordered_json line;
  line["cell"] = task.name;
  line["row"] = task.row;
  line["like"] = task.like;
  line["seconds"] = cost.seconds;
  line["memory"] = cost.memory;
  return line.dump() + "\n";
}

void append_costs(const std::filesystem::path& study, const std::string& lines) {
  const int file = ::open((study / file_name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(file, lines.data(), lines.size());  // at once: others append too
  ::close(file);
}

void remove_costs(const std::filesystem::path& study) {
  std::error_code ignored;
  std::filesystem::remove(study / file_name, ignored);
}

RunCosts::RunCosts(const std::filesystem::path& study) {
  std::ifstream file(study / file_name);
  for (std::string text; std::getline(file, text);) {
    const nlohmann::json line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!is_cost(line)) continue;
    const RunCost cost{line["seconds"], line["memory"]};
    like_[line["like"]].add(cost);
    row_[line["row"]].add(cost);
    all_.add(cost);
  }
}

RunCost RunCosts::expected(const RunTask& task) const {
  const auto like = like_.find(task.like);
  const auto row = row_.find(task.row);
  const Mean& mean = like != like_.end() ? like->second : row != row_.end() ? row->second : all_;
  return mean.runs > 0 ? RunCost{mean.seconds / mean.runs, mean.memory} : RunCost{};
}

void RunCosts::Mean::add(const RunCost& cost) {
  ++runs;
  seconds += cost.seconds;
  memory = std::max(memory, cost.memory);
}

}  // namespace trigram
