#include "experiments/fit/fit_words.hpp"

#include <algorithm>
#include <cmath>

#include "core/values/decimal.hpp"

namespace trigram {
namespace {

std::string up_or_down(const FitParameter& parameter, double before, double after) {
  const double change = parameter.value(after) / parameter.value(before) - 1;
  return parameter.key() + (change < 0 ? " down " : " up ") + percent_text(std::abs(change));
}

/// The step along a blind direction that changes its main parameter by a tenth, or as far as its range goes.
double step_of_a_tenth(const FitParameter& parameter, double place, double part) {
  constexpr double up = 1.1, down = 0.9;
  const double value = parameter.value(place);
  const double above = parameter.place_of(up * value), below = parameter.place_of(down * value);
  return (above - place > place - below ? above - place : below - place) / part;
}

}  // namespace

std::string percent_text(double ratio) {
  constexpr double hundred = 100;
  return decimal(hundred * ratio, 2) + " %";
}

std::string words_of(const FitParameter& parameter, double place, const Interval& interval) {
  if (!interval.known)
    return parameter.rounded(place) + ", which the measurements do not tell: it may be from " + parameter.rounded(0) +
           " to " + parameter.rounded(1);
  const bool at_end = place <= 0 || place >= 1;
  return parameter.rounded(place) + ", with 95 % from " + parameter.rounded(interval.low) + " to " +
         parameter.rounded(interval.high) + (at_end ? " (at the end of its range)" : "");
}

std::string words_of(const FitProblem& problem, const Fit& found, const BlindDirection& blind) {
  const auto magnitude = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const auto main = static_cast<std::size_t>(std::max_element(blind.steps.begin(), blind.steps.end(), magnitude) -
                                             blind.steps.begin());
  constexpr double least_shown = 1e-4;
  const double step = step_of_a_tenth(problem.parameters[main], found.place[main], blind.steps[main]);
  std::string names, moves;
  int parts = 0;
  for (std::size_t i = 0; i < blind.steps.size(); ++i) {
    if (blind.steps[i] == 0) continue;
    const FitParameter& parameter = problem.parameters[i];
    names += (parts == 0 ? "" : " and ") + parameter.key();
    moves +=
        (parts++ == 0 ? "" : " with ") + up_or_down(parameter, found.place[i], found.place[i] + step * blind.steps[i]);
  }
  return names + (parts == 1 ? " is not seen by these measurements: " : " cannot be told apart: ") + moves +
         " changes no row by more than " + percent_text(std::max(least_shown, std::abs(step) * blind.largest_change));
}

}  // namespace trigram
