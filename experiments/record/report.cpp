// Tables and summary of a run.
#include "experiments/record/report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "experiments/measure/median.hpp"

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

double samples_per_second(const std::vector<RankReport>& ranks) {
  double rate = 0;
  for (const RankReport& report : ranks) {
    if (report.training_seconds <= 0) continue;
    rate += static_cast<double>(report.local_batch) * static_cast<double>(report.steps_done) / report.training_seconds;
  }
  return rate;
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

}  // namespace

std::string steps_csv(const std::vector<RankReport>& ranks) {
  std::string text = "step,rank,time_s,loss,bytes_sent,compute_s,encode_s,wire_s,decode_s,exposed_s\n";
  for (const RankReport& report : ranks) {
    for (const StepRow& row : report.steps) {
      text += std::to_string(row.step) + "," + std::to_string(row.rank) + "," + number_text(row.time_s) + "," +
              number_text(row.loss) + "," + std::to_string(row.bytes_sent);
      for (const double seconds : {row.compute_s, row.encode_s, row.wire_s, row.decode_s, row.exposed_s})
        text += "," + number_text(seconds);
      text += "\n";
    }
  }
  return text;
}

std::string evals_csv(const std::vector<RankReport>& ranks) {
  std::string text = "step,time_s,loss,accuracy,worst_accuracy,consensus_distance\n";
  for (const EvalRow& row : evaluations(ranks)) {
    text += std::to_string(row.step);
    for (const double value : {row.time_s, row.loss, row.accuracy, row.worst_accuracy, row.consensus_distance})
      text += "," + number_text(value);
    text += "\n";
  }
  return text;
}

nlohmann::json summarize(const Training& training) {
  const std::vector<RankReport>& ranks = training.ranks;
  double all = 0, largest = 0, slowest = 0;
  for (const RankReport& report : ranks) {
    const auto bytes = static_cast<double>(report.sent.bytes);
    all += bytes;
    largest = std::max(largest, bytes);
    slowest = std::max(slowest, report.training_seconds);
  }
  const double divisor = std::max<double>(1, static_cast<double>(ranks.front().steps_done));
  const std::vector<EvalRow> scores = evaluations(ranks);
  nlohmann::json summary = {
      {"iteration_s", ranks.front().training_seconds / divisor},
      {"iteration_median_s", median(iteration_seconds(ranks.front()))},
      {"iteration_slowest_rank_s", slowest / divisor},
      {"samples_per_s", samples_per_second(ranks)},
      {"bytes_per_step_mean", all / static_cast<double>(ranks.size()) / divisor},
      {"bytes_per_step_largest", largest / divisor},
      {"busiest_nic", busiest_nic(training)},
      {"simulated_s", training.seconds},
      {"empty_shards", std::count_if(ranks.begin(), ranks.end(),
                                     [](const RankReport& r) { return r.steps_done > 0 && r.local_batch == 0; })},
      {"breakdown", breakdown(ranks.front())}};
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
  const nlohmann::json flat = summarize(nothing).flatten();
  for (const auto& [pointer, value] : flat.items()) {
    std::string name = pointer.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace trigram
