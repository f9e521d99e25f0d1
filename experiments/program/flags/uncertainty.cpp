#include "experiments/program/flags/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/values/decimal.hpp"
#include "experiments/settings/files/shell_word.hpp"

namespace trigram {
namespace {

std::string interval_text(const CentralRange& interval) {
  constexpr int digits = 4;
  return decimal(interval.least, digits) + " to " + decimal(interval.most, digits) + " s";
}

}  // namespace

std::string share_in_percent(double share) {
  constexpr double hundred = 100;
  return decimal(std::round(hundred * share), 3) + " %";
}

std::string model_line(const UncertainTime& time) {
  if (time.measured) return "";
  return "  model      no measurement of this cluster says how far off the model is: the widest error is taken\n";
}

UncertaintyFlags::UncertaintyFlags(Params& flags, int draws_by_default, const char* meaning)
    : given(flags.has("uncertainty")) {
  constexpr int most_draws = 4096;
  draws = flags.get("uncertainty", draws_by_default, meaning, {0, most_draws});
  seed = static_cast<std::uint64_t>(
      flags.get("uncertainty-seed", std::int64_t{1}, "of these draws", Range<std::int64_t>{.least = 0}));
}

std::string chances_text(const std::vector<std::pair<std::string, double>>& chances) {
  std::vector<std::pair<std::string, double>> named = chances;
  std::erase_if(named, [](const auto& one) { return one.second < 0.01; });
  std::ranges::stable_sort(named, std::greater<>(), [](const auto& one) { return one.second; });
  std::string text;
  for (const auto& [name, chance] : named) text += (text.empty() ? "" : ", ") + name + " " + share_in_percent(chance);
  return text;
}

std::string decided_by(const std::vector<std::pair<std::string, double>>& shares, const std::string& cluster) {
  constexpr double worth_naming = 0.05;
  std::string text, first;
  for (const auto& [key, share] : shares) {
    if (share < worth_naming) break;
    text += (text.empty() ? "" : ", ") + key + " (" + share_in_percent(share) + ")";
    if (first.empty() && key.starts_with("cluster.")) first = key.substr(key.find('.') + 1);
  }
  if (text.empty()) return "";
  text = "  decided by " + text + "\n";
  if (first.empty()) return text;
  return text + "  measure    " + first + " first: trigram calibrate --from MEASUREMENTS.csv --cluster " +
         shell_word(cluster) + " --fit " + first + "\n";
}

std::string uncertainty_lines(const UncertainTime& time, const UncertaintyFlags& flags, const std::string& cluster,
                              double arithmetic) {
  constexpr int digits = 4;
  std::string text = "  range      " + decimal(time.seconds.median, digits) + " s median of " +
                     std::to_string(flags.draws) + " draws; 68 % " + interval_text(time.seconds.of_68) + ", 95 % " +
                     interval_text(time.seconds.of_95) + " (" + std::to_string(time.ranges) + " ranges, seed " +
                     std::to_string(flags.seed) + ")\n";
  text += model_line(time) + decided_by(time.shares, cluster);
  if (std::isnan(arithmetic)) return text;
  const bool enough = time.seconds.of_68.contains(arithmetic);
  return text + "  arithmetic " + decimal(arithmetic, digits) + " s, compute and bytes over bandwidth: " +
         (enough ? "inside of the 68 % range, and simpler\n" : "outside of the 68 % range\n");
}

nlohmann::json uncertainty_facts(const UncertainTime& time, const UncertaintyFlags& flags, double arithmetic) {
  const auto ends = [](const CentralRange& interval) { return nlohmann::json{interval.least, interval.most}; };
  nlohmann::json shares = nlohmann::json::object();
  for (const auto& [key, share] : time.shares) shares[key] = share;
  return {{"draws", flags.draws},
          {"seed", flags.seed},
          {"ranges", time.ranges},
          {"median_s", time.seconds.median},
          {"of_68_s", ends(time.seconds.of_68)},
          {"of_95_s", ends(time.seconds.of_95)},
          {"shares", shares},
          {"model_error_measured", time.measured},
          {"arithmetic_s", std::isnan(arithmetic) ? nlohmann::json(nullptr) : nlohmann::json(arithmetic)}};
}

}  // namespace trigram
