// Tables and summary of a run.
#include "experiments/record/report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/values/error.hpp"
#include "experiments/measure/median.hpp"
#include "experiments/record/expenses.hpp"

namespace trigram {
namespace {

/// Durations of a rank's steps; its rows say when each ended.
std::vector<double> iteration_seconds(const RankReport& report) {
  if (report.steps.empty()) return {report.training_seconds};
  std::vector<double> seconds{report.training_seconds - (report.steps.back().time_s - report.steps.front().time_s)};
  for (std::size_t i = 1; i < report.steps.size(); ++i)
    seconds.push_back(report.steps[i].time_s - report.steps[i - 1].time_s);
  return seconds;
}

/// Data-parallel groups of a mesh may share their samples, which are counted once: `global_batch` of them a step.
double samples_per_second(const std::vector<RankReport>& ranks, std::int64_t global_batch) {
  double rate = 0, batch = 0;
  for (const RankReport& report : ranks) {
    batch += static_cast<double>(report.local_batch);
    if (report.training_seconds <= 0) continue;
    rate += static_cast<double>(report.local_batch) * static_cast<double>(report.steps_done) / report.training_seconds;
  }
  return batch > 0 ? rate * (static_cast<double>(global_batch) / batch) : 0;
}

nlohmann::json breakdown(const RankReport& report) {
  StepRow sum;
  for (const StepRow& row : report.steps) {
    sum.compute_s += row.compute_s;
    sum.encode_s += row.encode_s;
    sum.wire_s += row.wire_s;
    sum.decode_s += row.decode_s;
    sum.exposed_s += row.exposed_s;
  }
  const double steps = std::max<double>(1, static_cast<double>(report.steps.size()));
  return {{"compute_s", sum.compute_s / steps},
          {"encode_s", sum.encode_s / steps},
          {"wire_s", sum.wire_s / steps},
          {"decode_s", sum.decode_s / steps},
          {"exposed_s", sum.exposed_s / steps}};
}

/// Null where the backend has none.
nlohmann::json busiest_nic(const Training& training) {
  const auto facts = nlohmann::json::parse(training.facts);
  return facts.is_object() && facts.contains("busiest_nic") ? facts["busiest_nic"] : nlohmann::json();
}

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

template <class Map>
void add_names(const Map& recorded, std::set<std::string>& names) {
  for (const auto& [name, value] : recorded) names.insert(name);
}

/// The fixed columns, then expenses, then what the algorithm recorded.
template <class Columns>
std::string header(const Columns& columns, const std::vector<Expense>& expenses,
                   const std::set<std::string>& recorded) {
  std::string text;
  for (const std::string_view column : columns) text += (text.empty() ? "" : ",") + std::string(column);
  for (const Expense& expense : expenses) text += "," + expense.name;
  for (const std::string& column : recorded) text += "," + column;
  return text + "\n";
}

/// What was recorded in row `index`; `nothing` where nothing was.
double value_of(const std::map<std::string, std::vector<double>>& recorded, const std::string& column,
                std::size_t index) {
  const auto found = recorded.find(column);
  return found == recorded.end() ? nothing : found->second[index];
}

std::string cell(double value) { return std::isnan(value) ? "," : "," + number_text(value); }

std::string expense_cells(const std::vector<Expense>& expenses, const Used& used) {
  std::string text;
  for (const Expense& expense : expenses) text += cell(expense.of(used));
  return text;
}

}  // namespace

std::string steps_csv(const Training& training) {
  const std::vector<Expense> expenses = expenses_of(training);
  std::set<std::string> recorded;
  for (const RankReport& report : training.ranks) add_names(report.recorded, recorded);
  std::string text = header(StepRow::columns, expenses, recorded);
  for (const RankReport& report : training.ranks) {
    Used used;
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
      const StepRow& row = report.steps[i];
      text += std::to_string(row.step) + "," + std::to_string(row.rank) + "," + number_text(row.time_s) + "," +
              number_text(row.loss) + "," + std::to_string(row.bytes_sent) + "," +
              std::to_string(row.bytes_between_nodes);
      for (const double seconds : {row.compute_s, row.encode_s, row.wire_s, row.decode_s, row.exposed_s})
        text += "," + number_text(seconds);
      used = {row.time_s, used.busy_s + row.busy_s, used.bytes + static_cast<double>(row.bytes_between_nodes)};
      text += expense_cells(expenses, used);
      for (const std::string& column : recorded) text += cell(value_of(report.recorded, column, i));
      text += "\n";
    }
  }
  return text;
}

std::string evals_csv(const Training& training) {
  const std::vector<Expense> expenses = expenses_of(training);
  const std::vector<EvalRow> rows = evaluations(training.ranks);
  std::set<std::string> recorded;
  for (const EvalRow& row : rows) add_names(row.recorded, recorded);
  std::string text = header(EvalRow::columns, expenses, recorded);
  for (const EvalRow& row : rows) {
    text += std::to_string(row.step);
    for (const double value : {row.time_s, row.loss, row.accuracy, row.worst_accuracy, row.consensus_distance})
      text += "," + number_text(value);
    text += expense_cells(expenses, used_until(row, training));
    for (const std::string& column : recorded) {
      const auto found = row.recorded.find(column);
      text += cell(found == row.recorded.end() ? nothing : found->second);
    }
    text += "\n";
  }
  return text;
}

nlohmann::json summarize(const Training& training, std::int64_t global_batch, bool simulated) {
  const std::vector<RankReport>& ranks = training.ranks;
  double all = 0, between = 0, largest = 0, slowest = 0;
  for (const RankReport& report : ranks) {
    const auto bytes = static_cast<double>(report.sent.bytes);
    all += bytes;
    between += static_cast<double>(report.sent_to_other_nodes);
    largest = std::max(largest, bytes);
    slowest = std::max(slowest, report.training_seconds);
  }
  const double divisor = std::max<double>(1, static_cast<double>(ranks.front().steps_done));
  const std::vector<EvalRow> scores = evaluations(ranks);
  nlohmann::json summary = {
      {"iteration_s", ranks.front().training_seconds / divisor},
      {"iteration_median_s", median(iteration_seconds(ranks.front()))},
      {"iteration_slowest_rank_s", slowest / divisor},
      {"samples_per_s", samples_per_second(ranks, global_batch)},
      {"bytes_per_step_mean", all / static_cast<double>(ranks.size()) / divisor},
      {"bytes_per_step_inside_nodes", (all - between) / static_cast<double>(ranks.size()) / divisor},
      {"bytes_per_step_between_nodes", between / static_cast<double>(ranks.size()) / divisor},
      {"bytes_per_step_largest", largest / divisor},
      {"busiest_nic", busiest_nic(training)},
      {"clock_s", training.seconds},
      {"simulated_s", simulated ? nlohmann::json(training.seconds) : nlohmann::json()},
      {"empty_shards", std::count_if(ranks.begin(), ranks.end(),
                                     [](const RankReport& r) { return r.steps_done > 0 && r.local_batch == 0; })},
      {"breakdown", breakdown(ranks.front())}};
  for (const char* key : expense_names) summary[key] = nullptr;
  for (const Expense& expense : expenses_of(training)) summary[expense.name] = expense.of(used_in_all(training));
  for (const char* key : {"loss", "accuracy", "worst_accuracy", "consensus_distance"}) summary[key] = nullptr;
  if (scores.empty()) return summary;
  const EvalRow& last = scores.back();
  summary["loss"] = last.loss;
  summary["accuracy"] = last.accuracy;
  summary["worst_accuracy"] = last.worst_accuracy;
  summary["consensus_distance"] = last.consensus_distance;
  return summary;
}

std::vector<std::string> summary_names() {
  Training nothing;
  nothing.ranks.resize(1);
  std::vector<std::string> names;
  const nlohmann::json flat = summarize(nothing, 0).flatten();
  for (const auto& [pointer, value] : flat.items()) {
    std::string name = pointer.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace trigram
