#include "experiments/fit/surrogate.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

namespace trigram {
namespace {

/// How alike two places are, by the steps between them.
double alike(const std::vector<double>& one, const std::vector<double>& other) {
  constexpr double far = 3;
  double steps = 0;
  for (std::size_t i = 0; i < one.size(); ++i) steps += std::abs(one[i] - other[i]);
  return std::exp(-steps / far);
}

/// Of sums over parameters: straight lines through 0, others to either side, and Brownian motions, which may bend
/// again.
double covariance(const Sample& one, const Sample& other) {
  constexpr double straight = 0.7, to_one_side = 0.25, bending = 0.05;
  double sum = 0;
  for (std::size_t i = 0; i < one.moves.size(); ++i) {
    const double a = one.moves[i], b = other.moves[i];
    sum += straight * a * b;
    if (a * b > 0) sum += to_one_side * a * b + bending * std::min(std::abs(a), std::abs(b));
  }
  return sum * alike(one.place, other.place);
}

Eigen::Map<const Eigen::VectorXd> vector_of(const std::vector<double>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

}  // namespace

Surrogate::Surrogate(std::vector<Sample> samples, const std::vector<double>& logs) : samples_(std::move(samples)) {
  constexpr double noise = 4e-4;  // what no sum over parameters tells
  const auto count = static_cast<Eigen::Index>(samples_.size());
  if (count == 0) return;
  Eigen::MatrixXd all(count, count);
  for (Eigen::Index i = 0; i < count; ++i) all.col(i) = vector_of(covariances(samples_[static_cast<std::size_t>(i)]));
  all.diagonal().array() += noise;
  const Eigen::MatrixXd inverse = all.llt().solve(Eigen::MatrixXd::Identity(count, count));
  const Eigen::VectorXd weights = inverse * vector_of(logs);
  inverse_.assign(inverse.data(), inverse.data() + inverse.size());
  weights_.assign(weights.data(), weights.data() + count);
  for (Eigen::Index i = 0; i < count; ++i) {
    left_out_.push_back(weights[i] / inverse(i, i));
    scale_ += weights[i] * weights[i] / inverse(i, i) / static_cast<double>(count);
  }
}

std::vector<double> Surrogate::covariances(const Sample& sample) const {
  std::vector<double> all;
  for (const Sample& other : samples_) all.push_back(covariance(sample, other));
  return all;
}

double Surrogate::at(const Sample& sample) const {
  return samples_.empty() ? 0 : vector_of(covariances(sample)).dot(vector_of(weights_));
}

double Surrogate::deviation(const Sample& sample) const {
  if (samples_.empty()) return 0;
  const std::vector<double> to = covariances(sample);
  const auto count = static_cast<Eigen::Index>(to.size());
  const Eigen::Map<const Eigen::MatrixXd> inverse(inverse_.data(), count, count);
  const double told = vector_of(to).dot(inverse * vector_of(to));
  return std::sqrt(scale_ * std::max(0.0, covariance(sample, sample) - told));
}

}  // namespace trigram
