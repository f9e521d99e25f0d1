// Measurements beside predictions.
#include "experiments/study/comparison/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/values/decimal.hpp"
#include "core/values/error.hpp"
#include "experiments/record/arithmetic.hpp"
#include "experiments/record/regime.hpp"
#include "experiments/study/comparison/measured.hpp"

namespace trigram {
namespace {

bool meet(const Prediction& a, const Prediction& b) {
  return a.measured().source == b.measured().source && a.measured().condition == b.measured().condition;
}

/// Whether a prediction says something of it, and it asks to be faster than another.
bool asks(const Prediction& one) { return one.measured().used.empty() && !one.measured().against.empty(); }

/// Of a measurement that is meant to be faster than another one, that other one; null where nobody measured it.
const Prediction* rival(const Prediction& one, const std::vector<Prediction>& all) {
  const auto found = std::ranges::find_if(all, [&](const Prediction& other) {
    return meet(one, other) && other.measured().method == one.measured().against;
  });
  return found == all.end() ? nullptr : &*found;
}

std::string as_text(double value) {
  constexpr int digits = 6;
  return decimal(value, digits);
}

/// Beside what the simulation says, what arithmetic says, and what limits the iteration, where run.json has them.
Prediction prediction(const Study& study, const Row& row, const StudyResult& result) {
  Prediction one{.row = &row, .seconds = ::trigram::measured(study, result)};
  if (!result.run.contains("configuration") || !result.run["summary"].contains("breakdown")) return one;
  const nlohmann::json& configuration = result.run["configuration"];
  Params cluster("the cluster of " + row.name, "");
  for (const auto& [key, value] : configuration.at("cluster").items()) cluster.set(key, value.get<std::string>());
  const double steps = std::stod(configuration.at("flags").at("steps").get<std::string>());
  one.arithmetic = arithmetic_seconds(result.run["summary"], steps, cluster);
  one.regime = regime_of(result.run["summary"], steps, cluster);
  return one;
}

}  // namespace

bool PredictedPair::right() const {
  return (one->measured().seconds < other->measured().seconds) == (one->seconds < other->seconds);
}

double PredictedPair::log_error() const {
  return std::log(one->seconds / other->seconds / (one->measured().seconds / other->measured().seconds));
}

double Prediction::error() const { return seconds / measured().seconds - 1; }

std::vector<Prediction> predictions(const Study& study, const std::vector<StudyResult>& results,
                                    const std::string& variant) {
  std::map<std::string, const StudyResult*> found;
  for (const std::string& layer : {std::string(), variant}) {
    for (const StudyResult& result : results) {
      if (result.point.variant == layer && result.failure.empty()) found[result.point.row] = &result;
    }
  }
  std::vector<Prediction> all;
  for (const Row& row : study.rows) {
    if (row.observation && found.contains(row.name)) all.push_back(prediction(study, row, *found.at(row.name)));
  }
  return all;
}

double mean_error(const std::vector<Prediction>& some) {
  if (some.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const Prediction& one : some) sum += std::abs(one.error());
  return sum / static_cast<double>(some.size());
}

std::vector<PredictedPair> pairs_under_one_condition(const std::vector<Prediction>& some) {
  std::vector<PredictedPair> pairs;
  for (auto a = some.begin(); a != some.end(); ++a) {
    for (auto b = std::next(a); b != some.end(); ++b) {
      if (meet(*a, *b)) pairs.push_back({&*a, &*b});
    }
  }
  return pairs;
}

std::vector<PredictedPair> distinct_pairs(const std::vector<Prediction>& some) {
  constexpr double distinct = 1.1;
  std::vector<PredictedPair> pairs = pairs_under_one_condition(some);
  std::erase_if(pairs, [](const PredictedPair& pair) {
    const auto [low, high] = std::minmax(pair.one->measured().seconds, pair.other->measured().seconds);
    return high <= distinct * low;
  });
  return pairs;
}

std::vector<PredictedPair> asked_to_pay(const std::vector<Prediction>& some) {
  std::vector<PredictedPair> pairs;
  for (const Prediction& one : some) {
    const Prediction* other = asks(one) ? rival(one, some) : nullptr;
    if (other != nullptr) pairs.push_back({&one, other});
  }
  return pairs;
}

Share right_of(const std::vector<PredictedPair>& pairs) {
  return {static_cast<int>(std::ranges::count_if(pairs, &PredictedPair::right)), static_cast<int>(pairs.size())};
}

std::vector<std::string> wrong_decisions(const std::vector<Prediction>& some) {
  std::vector<std::string> wrong;
  for (const PredictedPair& pair : asked_to_pay(some)) {
    if (!pair.right()) wrong.push_back(pair.one->measured().method + " at " + pair.one->measured().condition);
  }
  return wrong;
}

std::string agreement_csv(const std::vector<Prediction>& all) {
  std::string text = "row,source,method,condition,used,measured_s,predicted_s,error,arithmetic_s,regime\n";
  for (const Prediction& one : all) {
    const Observation& of = one.measured();
    text += one.row->name + "," + of.source + "," + of.method + "," + of.condition + "," + of.used + "," +
            as_text(of.seconds) + "," + as_text(one.seconds) + "," + as_text(one.error()) + "," +
            (std::isnan(one.arithmetic) ? "" : as_text(one.arithmetic)) + "," + name_of(one.regime) + "\n";
  }
  return text;
}

}  // namespace trigram
