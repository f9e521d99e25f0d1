#include "experiments/fit/chances.hpp"

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

namespace trigram {
namespace {

double deviation(const WithErrorBar& one) { return std::log1p(one.error); }

/// The probability that a normal variable is at most `distance` above its mean; a step where it has no deviation.
double chance_below(double distance, double of_deviation) {
  if (of_deviation > 0) return std::erfc(-distance / of_deviation / std::sqrt(2.0)) / 2;
  return distance == 0 ? 0.5 : distance > 0 ? 1.0 : 0.0;
}

}  // namespace

double chance_of_less(const WithErrorBar& one, const WithErrorBar& other) {
  return chance_below(std::log(other.value / one.value), std::hypot(deviation(one), deviation(other)));
}

std::vector<double> chances_of_least(const std::vector<WithErrorBar>& all) {
  constexpr int quantiles = 256;
  std::vector<double> chances(all.size(), 0.0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int steps = all[i].error > 0 ? quantiles : 1;
    for (int step = 0; step < steps; ++step) {
      const double z = boost::math::quantile(boost::math::normal(), (step + 0.5) / steps);
      double all_more = 1.0 / steps;
      for (std::size_t j = 0; j < all.size() && all_more > 0; ++j) {
        if (j == i) continue;
        const double distance = std::log(all[j].value / all[i].value) - deviation(all[i]) * z;
        all_more *= chance_below(distance, deviation(all[j]));
      }
      chances[i] += all_more;
    }
  }
  const double sum = std::accumulate(chances.begin(), chances.end(), 0.0);
  for (double& chance : chances) chance /= sum;
  return chances;
}

}  // namespace trigram
