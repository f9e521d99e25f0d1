// Energy and money of a run, from what its ranks and its backend say.
#include "experiments/record/expenses.hpp"

#include <nlohmann/json.hpp>

namespace trigram {

std::vector<Expense> expenses_of(const Training& training) {
  std::vector<Expense> all;
  const auto facts = nlohmann::json::parse(training.facts);
  if (!facts.is_object() || !facts.contains("expenses")) return all;
  for (const auto& [name, rates] : facts["expenses"].items())
    all.push_back({name, rates.at("busy_gpu_s"), rates.at("idle_gpu_s"), rates.at("byte")});
  return all;
}

Used used_until(const EvalRow& row, const Training& training) {
  return {training.rank_seconds(row.time_s), row.busy_s, row.bytes_between_nodes};
}

Used used_in_all(const Training& training) {
  Used all{training.rank_seconds(training.seconds), training.gone_busy_s, training.gone_to_other_nodes};
  for (const RankReport& report : training.ranks) {
    all.busy_s += report.busy_s;
    all.bytes += static_cast<double>(report.sent_to_other_nodes);
  }
  return all;
}

}  // namespace trigram
