// What every communicator must do, as parameters and data for suites that run on all backends.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <tuple>
#include <vector>

#include "core/values/random.hpp"
#include "tests/support/run_ranks.hpp"
#include "tests/support/unsupported.hpp"

namespace trigram::testing {

/// A backend and a number of ranks.
using TestedPlace = std::tuple<std::string, int>;

inline std::string place_name(const ::testing::TestParamInfo<TestedPlace>& info) {
  std::string name = std::get<0>(info.param) + "_on_" + std::to_string(std::get<1>(info.param));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// A suite that runs on every backend with every size that has a shape of its own.
class OnEveryPlace : public ::testing::TestWithParam<TestedPlace> {
 protected:
  void SetUp() override {
    if (const std::string reason = skip_reason(backend()); !reason.empty()) GTEST_SKIP() << reason;
  }
  static std::string backend() { return std::get<0>(GetParam()); }
  static int ranks() { return std::get<1>(GetParam()); }

  /// What each rank's body returns.
  template <class T>
  static std::vector<std::vector<T>> run(const std::function<std::vector<T>(RankRuntime&)>& body) {
    return run_ranks<T>(backend(), ranks(), body);
  }
};

inline auto every_place() {
  return ::testing::Combine(::testing::ValuesIn(tested_backends()), ::testing::Values(1, 2, 3, 4, 5, 7, 8));
}

/// Whole numbers in 0 … 30, different on each rank: sums over eight ranks fit every type, and floats add exactly.
template <class T>
std::vector<T> numbers(int rank, std::int64_t count) {
  std::vector<T> values;
  const Philox philox(Key{.seed = 7, .rank = rank});
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(philox.bits(static_cast<std::uint64_t>(i)) % 31));
  return values;
}

/// op over all ranks of `numbers`, by plain arithmetic.
template <class T>
std::vector<T> reduced(int ranks, std::int64_t count, ReduceOp op) {
  std::vector<T> result = numbers<T>(0, count);
  for (int r = 1; r < ranks; ++r) {
    const std::vector<T> other = numbers<T>(r, count);
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (op == ReduceOp::min) result[i] = std::min(result[i], other[i]);
      if (op == ReduceOp::max) result[i] = std::max(result[i], other[i]);
      if (op == ReduceOp::sum || op == ReduceOp::mean) result[i] = static_cast<T>(result[i] + other[i]);
    }
  }
  if (op != ReduceOp::mean) return result;
  for (T& value : result) {
    value = std::is_floating_point_v<T> ? static_cast<T>(value * (1.0F / static_cast<float>(ranks)))
                                        : static_cast<T>(value / static_cast<T>(ranks));
  }
  return result;
}

/// Chunk `index` of a vector.
template <class T>
std::vector<T> part_of(const std::vector<T>& values, int parts, int index) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {values.begin() + chunk_begin(count, parts, index), values.begin() + chunk_begin(count, parts, index + 1)};
}

inline constexpr std::int64_t counts[] = {0, 1, 13, 4099};

/// Elements of a vector whose chunks are cut by grains, the last of which is not whole.
inline std::int64_t long_and_odd(int ranks) { return long_chunk * ranks + 4 * chunk_grain + 5; }
inline constexpr ReduceOp all_ops[] = {ReduceOp::sum, ReduceOp::mean, ReduceOp::min, ReduceOp::max};

}  // namespace trigram::testing
