#include "experiments/fit/chances.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
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

/// Of one of several values.
struct Logarithm {
  std::size_t index;
  double middle, deviation;
};

/// Those that can be the least, but for a chance of a millionth and less.
std::vector<Logarithm> those_near(const std::vector<WithErrorBar>& all) {
  constexpr double deviations = 5;
  std::vector<Logarithm> near;
  double bound = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < all.size(); ++i) {
    near.push_back({i, std::log(all[i].value), deviation(all[i])});
    bound = std::min(bound, near.back().middle + deviations * near.back().deviation);
  }
  std::erase_if(near, [&](const Logarithm& one) { return one.middle - deviations * one.deviation > bound; });
  return near;
}

}  // namespace

double chance_of_less(const WithErrorBar& one, const WithErrorBar& other) {
  return chance_below(std::log(other.value / one.value), std::hypot(deviation(one), deviation(other)));
}

std::vector<double> chances_of_least(const std::vector<WithErrorBar>& all, int quantiles) {
  const std::vector<double> many = normal_quantiles(quantiles), middle = normal_quantiles(1);
  const std::vector<Logarithm> near = those_near(all);
  std::vector<double> chances(all.size(), 0.0);
  for (const Logarithm& one : near) {
    const std::vector<double>& own = one.deviation > 0 ? many : middle;
    for (const double z : own) {
      double all_more = 1.0 / static_cast<double>(own.size());
      for (const Logarithm& other : near) {
        if (other.index != one.index)
          all_more *= chance_below(other.middle - one.middle - one.deviation * z, other.deviation);
      }
      chances[one.index] += all_more;
    }
  }
  const double sum = std::accumulate(chances.begin(), chances.end(), 0.0);
  for (double& chance : chances) chance /= sum;
  return chances;
}

}  // namespace trigram
