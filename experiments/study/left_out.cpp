#include "experiments/study/left_out.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "experiments/fit/chances.hpp"

namespace trigram {
namespace {

constexpr std::size_t fewest = 15;  // errors from which one tells how large such errors are
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

using Value = std::function<double(const Prediction&)>;

double of_model(const Prediction& one) { return one.seconds; }
double of_arithmetic(const Prediction& one) { return one.arithmetic; }

double log_error(double predicted, const Prediction& one) {
  return std::abs(std::log(predicted / one.measured().seconds));
}

/// The least of the values that at least this share of them do not exceed: so many of them are held.
double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return nothing;
  std::ranges::sort(values);
  const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::min(std::max<std::size_t>(place, 1), values.size()) - 1];
}

/// How far off `value` was on other sources, in the regime of `one` or in all.
std::vector<double> errors_elsewhere(const std::vector<const Prediction*>& all, const Prediction& one,
                                     const Value& value) {
  std::vector<double> of_regime, of_all;
  for (const Prediction* other : all) {
    if (other->measured().source == one.measured().source || !(value(*other) > 0)) continue;
    of_all.push_back(log_error(value(*other), *other));
    if (other->regime == one.regime) of_regime.push_back(of_all.back());
  }
  return of_regime.size() < fewest ? of_all : of_regime;
}

/// Sums over rows, and how many.
struct Mean {
  double sum = 0;
  int rows = 0;
  void add(double value) {
    if (std::isnan(value)) return;
    sum += value;
    ++rows;
  }
  double value() const { return rows == 0 ? nothing : sum / rows; }
};

/// As far off as predictions of other sources were.
WithErrorBar bar_of(const Prediction& one, const std::vector<const Prediction*>& all) {
  const std::vector<double> elsewhere = errors_elsewhere(all, one, of_model);
  const double squares = std::inner_product(elsewhere.begin(), elsewhere.end(), elsewhere.begin(), 0.0);
  return {one.seconds, elsewhere.empty() ? 0 : std::expm1(std::sqrt(squares / static_cast<double>(elsewhere.size())))};
}

/// How far off ratios of two predictions under one condition were on other sources: the root of the mean square of
/// their logarithms' errors, with each of these sources counted alike. Nothing where they have too few of such pairs.
std::optional<double> error_of_ratios_elsewhere(const std::vector<PredictedPair>& compared, const std::string& source) {
  std::map<std::string, Mean> squares;
  std::size_t pairs = 0;
  for (const PredictedPair& pair : compared) {
    if (pair.one->measured().source == source) continue;
    squares[pair.one->measured().source].add(pair.log_error() * pair.log_error());
    ++pairs;
  }
  if (pairs < fewest) return std::nullopt;
  Mean of_sources;
  for (const auto& [name, mean] : squares) of_sources.add(mean.value());
  return std::sqrt(of_sources.value());
}

/// That the first takes less than the second, as ratios of other sources were off, or else as far as their predictions
/// were, each by itself.
double chance(const PredictedPair& pair, std::optional<double> of_ratios, const std::vector<const Prediction*>& all) {
  if (!of_ratios) return chance_of_less(bar_of(*pair.one, all), bar_of(*pair.other, all));
  return chance_of_less(WithErrorBar{pair.one->seconds, std::expm1(*of_ratios)}, WithErrorBar{pair.other->seconds, 0});
}

Calls calls_of(const std::vector<PredictedPair>& pairs, const std::string& source, std::optional<double> of_ratios,
               const std::vector<const Prediction*>& all) {
  Calls calls;
  for (const PredictedPair& pair : pairs) {
    if (pair.one->measured().source != source) continue;
    const double less = chance(pair, of_ratios, all);
    calls.add(pair, std::max(less, 1 - less));
  }
  return calls;
}

LeftOut judged(const std::string& source, const std::vector<const Prediction*>& all) {
  constexpr double two_thirds = 0.68, nearly_all = 0.95;
  LeftOut out{.source = source};
  Mean error, arithmetic, width, width_of_arithmetic;
  for (const Prediction* one : all) {
    if (one->measured().source != source) continue;
    const std::vector<double> elsewhere = errors_elsewhere(all, *one, of_model);
    const double own = log_error(one->seconds, *one);
    const double half = quantile_of(elsewhere, two_thirds);
    ++out.rows;
    out.in_68 += own <= half ? 1 : 0;
    out.in_95 += own <= quantile_of(elsewhere, nearly_all) ? 1 : 0;
    error.add(std::abs(one->error()));
    width.add(std::expm1(half));
    if (!(one->arithmetic > 0)) continue;
    arithmetic.add(std::abs(one->arithmetic / one->measured().seconds - 1));
    width_of_arithmetic.add(std::expm1(quantile_of(errors_elsewhere(all, *one, of_arithmetic), two_thirds)));
  }
  out.error = error.value();
  out.arithmetic = arithmetic.value();
  out.width_68 = width.value();
  out.width_68_arithmetic = width_of_arithmetic.value();
  return out;
}

}  // namespace

void Calls::add(const PredictedPair& pair, double chance) {
  ++asked;
  if (chance < ::trigram::called) return;
  ++called.all;
  if (pair.right()) ++called.right;
}

Calls& Calls::operator+=(const Calls& more) {
  asked += more.asked;
  called.all += more.called.all;
  called.right += more.called.right;
  return *this;
}

std::vector<LeftOut> left_out(const std::vector<Prediction>& all) {
  std::vector<const Prediction*> predicted;
  std::vector<Prediction> alone;
  std::vector<std::string> sources;
  for (const Prediction& one : all) {
    if (!one.measured().used.empty()) continue;
    predicted.push_back(&one);
    alone.push_back(one);
    if (std::ranges::find(sources, one.measured().source) == sources.end()) sources.push_back(one.measured().source);
  }
  std::vector<LeftOut> judgements;
  const std::vector<PredictedPair> compared = pairs_under_one_condition(alone);
  const std::vector<PredictedPair> pairs = distinct_pairs(alone), decisions = asked_to_pay(all);
  for (const std::string& source : sources) {
    judgements.push_back(judged(source, predicted));
    const std::optional<double> of_ratios = error_of_ratios_elsewhere(compared, source);
    judgements.back().order = calls_of(pairs, source, of_ratios, predicted);
    judgements.back().pays = calls_of(decisions, source, of_ratios, predicted);
  }
  return judgements;
}

}  // namespace trigram
