// Normal and gamma numbers.
#include "experiments/workloads/data/distributions.hpp"

#include <cmath>
#include <numbers>

namespace trigram {
namespace {

/// Uniform in (0, 1): never 0, so that its logarithm is finite.
double open_uniform(const Philox& stream, std::uint64_t index) {
  return (static_cast<double>(stream.bits(index)) + 0.5) * 0x1p-32;
}

}  // namespace

double normal(const Philox& stream, std::uint64_t index) {
  const double radius = std::sqrt(-2.0 * std::log(open_uniform(stream, 2 * index)));
  return radius * std::cos(2.0 * std::numbers::pi * open_uniform(stream, 2 * index + 1));
}

double log_gamma_variate(const Philox& stream, double shape) {
  // Gamma(a) = Gamma(a + 1) · U^(1/a), which gives the method a shape of at least one.
  const double d = shape + 1.0 - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  const double boost = std::log(open_uniform(stream, 0)) / shape;
  for (std::uint64_t attempt = 1;; ++attempt) {
    const double x = normal(stream, 2 * attempt);
    const double v = std::pow(1.0 + c * x, 3);
    const double u = open_uniform(stream, 4 * attempt + 2);
    if (v > 0 && std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v) + boost;
  }
}

}  // namespace trigram
