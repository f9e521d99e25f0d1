// What tests recompute in double precision, straight from the papers' formulas: vectors of all ranks, and gradients.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::recomputed {

using Vector = std::vector<double>;
using Vectors = std::vector<Vector>;  ///< by rank

inline constexpr double rate = 0.125;  ///< the learning rate of scripted runs
inline constexpr int elements = 7;

/// Numbers without structure; with a curvature that differs between ranks, they depend on weights too.
inline double rough(std::int64_t step, int rank, std::int64_t element) {
  return std::sin(2.7 * static_cast<double>(step) + 3.1 * rank + 0.7 * static_cast<double>(element * element) + 1);
}
inline double curvature(int rank) { return 0.25 + 0.125 * rank; }

/// Scripts that gradient, `curved` or not, in layers of these sizes; weights start at their element's index less 3.
inline void play_rough(bool curved, std::vector<std::int64_t> layers = {elements}) {
  Script script;
  script.layers = std::move(layers);
  script.initial = [](std::int64_t element) { return static_cast<float>(element) - 3.0F; };
  script.gradient = [curved](std::int64_t step, int rank, std::int64_t element, float weight) {
    return static_cast<float>(rough(step, rank, element) +
                              (curved ? curvature(rank) * static_cast<double>(weight) : 0));
  };
  play(script);
}

inline Vectors initial(int ranks, int count = elements) {
  Vector x(static_cast<std::size_t>(count));
  std::iota(x.begin(), x.end(), -3.0);
  return Vectors(static_cast<std::size_t>(ranks), x);
}
inline Vectors zeros(int ranks, int count = elements) {
  return Vectors(static_cast<std::size_t>(ranks), Vector(static_cast<std::size_t>(count), 0.0));
}
/// The gradient of every rank at its x.
inline Vectors gradients(std::int64_t step, const Vectors& x, bool curved) {
  Vectors g = x;
  for (std::size_t rank = 0; rank < x.size(); ++rank) {
    for (std::size_t i = 0; i < x[rank].size(); ++i) {
      g[rank][i] = rough(step, static_cast<int>(rank), static_cast<std::int64_t>(i)) +
                   (curved ? curvature(static_cast<int>(rank)) * x[rank][i] : 0);
    }
  }
  return g;
}

/// a x + b y, rank by rank.
inline Vectors combined(double a, const Vectors& x, double b, const Vectors& y) {
  Vectors sum = x;
  for (std::size_t rank = 0; rank < x.size(); ++rank) {
    for (std::size_t i = 0; i < x[rank].size(); ++i) sum[rank][i] = a * x[rank][i] + b * y[rank][i];
  }
  return sum;
}
/// Σ_j W_ij x_j with W of these rows.
inline Vectors mixed(const Vectors& rows, const Vectors& x) {
  Vectors sum = zeros(static_cast<int>(x.size()), static_cast<int>(x.front().size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      for (std::size_t e = 0; e < x[j].size(); ++e) sum[i][e] += rows[i][j] * x[j][e];
    }
  }
  return sum;
}
/// The mean over ranks, on every rank.
inline Vectors averaged(const Vectors& x) {
  const double share = 1.0 / static_cast<double>(x.size());
  return mixed(Vectors(x.size(), Vector(x.size(), share)), x);
}
/// The ring with weights of a third.
inline Vectors ring(int ranks) {
  Vectors rows = zeros(ranks, ranks);
  for (int i = 0; i < ranks; ++i) {
    for (const int j : {i - 1, i, i + 1})
      rows[static_cast<std::size_t>(i)][static_cast<std::size_t>((j + ranks) % ranks)] += 1.0 / 3;
  }
  return rows;
}

using Compressor = std::function<Vector(const Vector&)>;
inline Vectors compressed(const Compressor& compressor, const Vectors& x) {
  Vectors all;
  for (const Vector& one : x) all.push_back(compressor(one));
  return all;
}
/// The two elements of largest magnitude: codec top_k:k=2.
inline Vector two_largest(const Vector& x) {
  Vector sizes;
  for (const double value : x) sizes.push_back(std::abs(value));
  std::nth_element(sizes.begin(), sizes.begin() + 1, sizes.end(), std::greater<>());
  Vector kept = x;
  for (double& value : kept) value = std::abs(value) >= sizes[1] ? value : 0;
  return kept;
}
/// The sign with the mean magnitude: codec one_bit.
inline Vector scaled_sign(const Vector& x) {
  double sum = 0;
  for (const double value : x) sum += std::abs(value);
  Vector signs = x;
  for (double& value : signs) value = (value < 0 ? -1 : 1) * sum / static_cast<double>(x.size());
  return signs;
}

/// The weights of each rank after a scripted run with plain SGD.
inline std::vector<std::vector<float>> trained(const std::string& algorithm, int ranks, std::int64_t steps,
                                               std::int64_t bucket_bytes = 40) {
  TrainingOptions options = scripted(algorithm, steps);
  options.evaluate_every = 0;
  options.buckets.bytes = bucket_bytes;
  return weights_of(train_on(threads(2), ranks, options));
}

inline void expect_recomputed(const std::vector<std::vector<float>>& trained, const Vectors& recomputed,
                              const std::string& where, double tolerance = 1e-5) {
  ASSERT_EQ(trained.size(), recomputed.size()) << where;
  for (std::size_t rank = 0; rank < trained.size(); ++rank) {
    ASSERT_EQ(trained[rank].size(), recomputed[rank].size()) << where;
    for (std::size_t i = 0; i < trained[rank].size(); ++i) {
      EXPECT_NEAR(trained[rank][i], recomputed[rank][i], tolerance * std::max(1.0, std::abs(recomputed[rank][i])))
          << where << ", rank " << rank << ", element " << i;
    }
  }
}

}  // namespace trigram::testing::recomputed
