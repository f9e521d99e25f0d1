#include "experiments/fit/spread.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

namespace trigram {
namespace {

/// Of sorted values.
double quantile(const std::vector<double>& values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// Legendre's polynomials of u in [0, 1], of mean 0 and variance 1.
double polynomial(int degree, double u) {
  const double x = 2 * u - 1;
  return degree == 1 ? std::sqrt(3.0) * x : std::sqrt(5.0) * (3 * x * x - 1) / 2;
}

}  // namespace

Spread times(Spread spread, double factor) {
  for (double* one : {&spread.median, &spread.of_68.least, &spread.of_68.most, &spread.of_95.least, &spread.of_95.most})
    *one *= factor;
  return spread;
}

Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto central = [&](double share) {
    return CentralRange{quantile(values, (1 - share) / 2), quantile(values, (1 + share) / 2)};
  };
  return {quantile(values, 0.5), central(0.68), central(0.95)};
}

std::vector<double> first_order_indices(const std::vector<Point>& points, const std::vector<double>& values) {
  const auto draws = static_cast<Eigen::Index>(points.size());
  const auto parameters = draws == 0 ? 0 : static_cast<Eigen::Index>(points.front().size());
  std::vector<double> indices(static_cast<std::size_t>(parameters), 0.0);
  if (draws < 3 || parameters == 0) return indices;
  const int degrees = draws >= 3 * (1 + 2 * parameters) ? 2 : 1;
  Eigen::MatrixXd basis(draws, 1 + degrees * parameters);
  Eigen::VectorXd of(draws);
  for (Eigen::Index draw = 0; draw < draws; ++draw) {
    of[draw] = values[static_cast<std::size_t>(draw)];
    basis(draw, 0) = 1;
    for (Eigen::Index i = 0; i < degrees * parameters; ++i)
      basis(draw, 1 + i) = polynomial(1 + static_cast<int>(i / parameters),
                                      points[static_cast<std::size_t>(draw)][static_cast<std::size_t>(i % parameters)]);
  }
  const double variance = (of.array() - of.mean()).square().mean();
  if (!(variance > 0)) return indices;
  const Eigen::VectorXd coefficients = basis.colPivHouseholderQr().solve(of);
  for (Eigen::Index i = 0; i < degrees * parameters; ++i) {
    double& index = indices[static_cast<std::size_t>(i % parameters)];
    index = std::min(1.0, index + coefficients[1 + i] * coefficients[1 + i] / variance);
  }
  return indices;
}

double factor_of_error(double error, double u) {
  constexpr double least = 1e-9;
  return std::pow(1 + error, boost::math::quantile(boost::math::normal(), std::clamp(u, least, 1 - least)));
}

}  // namespace trigram
