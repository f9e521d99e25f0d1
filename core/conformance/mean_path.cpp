#include "core/conformance/mean_path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/conformance/known_gradients.hpp"

namespace trigram {
namespace {

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double length(const std::vector<double>& vector) { return std::sqrt(product(vector, vector)); }

/// Calls body(step, ranks of it) for all steps.
template <class Body>
void for_steps(std::span<const Stretch> stretches, const Body& body) {
  std::int64_t first = 0;
  for (const Stretch& stretch : stretches) {
    for (std::int64_t step = first; step < first + stretch.steps; ++step) body(step, stretch.ranks);
    first += stretch.steps;
  }
}

/// The learning rate times the longest gradient of any rank in these steps, in each of them.
double longest_way(std::span<const Stretch> stretches) {
  double longest = 0;
  std::int64_t steps = 0;
  for_steps(stretches, [&](std::int64_t step, int ranks) {
    ++steps;
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<double> gradient;
      for (std::int64_t i = 0; i < known_elements(); ++i) gradient.push_back(known_gradient(step, rank, i));
      longest = std::max(longest, length(gradient));
    }
  });
  return Trial::learning_rate * longest * static_cast<double>(steps);
}

/// −γ Σ_t mean_j g_j(t).
std::vector<double> descent(std::span<const Stretch> stretches) {
  std::vector<double> way;
  for (std::int64_t i = 0; i < known_elements(); ++i) {
    double sum = 0;
    for_steps(stretches, [&](std::int64_t step, int ranks) {
      for (int rank = 0; rank < ranks; ++rank) sum += static_cast<double>(known_gradient(step, rank, i)) / ranks;
    });
    way.push_back(-Trial::learning_rate * sum);
  }
  return way;
}

/// From the first weights to the mean of the last.
std::vector<double> moved(const Training& training) {
  const auto weights = weights_of(training);
  std::vector<double> way;
  for (std::int64_t i = 0; i < known_elements(); ++i) {
    double sum = 0;
    for (const auto& one : weights) sum += one[static_cast<std::size_t>(i)];
    way.push_back(sum / static_cast<double>(weights.size()) - known_weight(i));
  }
  return way;
}

double off(const Training& training, const Trial& trial, std::int64_t steps, double share) {
  return off_mean_path(training, std::array{Stretch{steps, trial.training_ranks()}}, share);
}

/// Whether the mean is nearer to the descent than to where it began, whatever `mean_error` allows it.
bool follows_anyway(const Trial& trial, std::int64_t steps) {
  const std::optional<double> promised = trial.invariants(Hierarchy::none).mean_error;
  if (!promised) return false;
  const std::array all{Stretch{steps, trial.training_ranks()}};
  return *promised + mean_path_rounding < length(descent(all)) / longest_way(all);
}

}  // namespace

double off_mean_path(const Training& training, std::span<const Stretch> stretches, double share) {
  std::vector<double> left = moved(training);
  const std::vector<double> way = descent(stretches);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] -= share * way[i];
  return length(left) / longest_way(stretches);
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string beyond_mean_error(std::int64_t steps, double share, double promised) {
  if (share <= promised + mean_path_rounding) return {};
  return "after " + std::to_string(steps) + " steps the mean of weights is off the path of the mean gradients by " +
         short_text(share) + " of steps · learning rate · largest gradient; mean_error declares " +
         short_text(promised);
}

std::string unsettled(std::int64_t steps, double share, double later) {
  if (later <= std::max(mean_path_rounding, settled_share * share)) return {};
  return "after " + std::to_string(steps) +
         " steps with gradients the mean of weights is off the path of the mean gradients by " + short_text(share) +
         " of steps · learning rate · largest gradient, and by " + short_text(later) + " after " +
         std::to_string(settling_steps * steps) +
         " more without; error feedback must make up for it, as settles declares";
}

std::string wrong_mean(const Trial& trial, const TrialRun& run, const Training& training) {
  const std::optional<double> promised = trial.invariants(run.hierarchy).mean_error;
  return promised ? beyond_mean_error(run.steps, off(training, trial, run.steps, 1), *promised) : std::string();
}

std::string wrong_direction(const Trial& trial, std::int64_t steps) {
  if (!trial.invariants(Hierarchy::none).may_climb.empty() || follows_anyway(trial, steps)) return {};
  const std::vector<double> way = moved(trial.train({.steps = steps, .workload = "known_gradients:same=on"}));
  std::vector<double> gradient;
  for (std::int64_t i = 0; i < known_elements(); ++i) gradient.push_back(known_gradient(0, 0, i));
  const double along = product(way, gradient) / length(gradient);
  if (along < 0) return {};
  return "after " + std::to_string(steps) + " steps whose gradients are all the same, the mean of weights has moved " +
         short_text(along) + " along them; it must move against them, or invariants() say in may_climb why not";
}

std::string wrong_settling(const Trial& trial, const Training& training, std::int64_t steps) {
  const std::optional<double> share = trial.invariants(Hierarchy::none).settles;
  if (!share) return {};
  const TrialRun quiet{.steps = (1 + settling_steps) * steps,
                       .workload = "known_gradients:until=" + std::to_string(steps)};
  return unsettled(steps, off(training, trial, steps, *share), off(trial.train(quiet), trial, steps, *share));
}

}  // namespace trigram
