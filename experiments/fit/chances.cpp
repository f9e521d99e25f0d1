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

/// In the middle of equal shares of a standard normal variable.
std::vector<double> normal_quantiles(int count) {
  std::vector<double> all;
  for (int step = 0; step < count; ++step)
    all.push_back(boost::math::quantile(boost::math::normal(), (step + 0.5) / count));
  return all;
}

}  // namespace

double chance_of_less(const WithErrorBar& one, const WithErrorBar& other) {
  return chance_below(std::log(other.value / one.value), std::hypot(deviation(one), deviation(other)));
}

std::vector<double> chances_of_least(const std::vector<WithErrorBar>& all) {
  static const std::vector<double> many = normal_quantiles(256), middle = normal_quantiles(1);
  std::vector<double> chances(all.size(), 0.0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<double>& quantiles = all[i].error > 0 ? many : middle;
    for (const double z : quantiles) {
      double all_more = 1.0 / static_cast<double>(quantiles.size());
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
