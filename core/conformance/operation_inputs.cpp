#include "core/conformance/operation_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/values/random.hpp"

namespace trigram {

std::vector<float> values_of(std::int64_t count, std::uint64_t seed) {
  constexpr float least = 0.25F;
  const Philox philox(Key{.seed = seed});
  std::vector<float> values;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
    const float signed_one = 2 * philox.uniform(i) - 1;
    values.push_back(std::copysign(least + (1 - least) * std::abs(signed_one), signed_one));
  }
  return values;
}

std::vector<float> values_apart(std::int64_t count, float apart, std::uint64_t seed) {
  const Philox philox(Key{.seed = seed});
  std::vector<std::uint64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::stable_sort(order, {}, [&](std::uint64_t i) { return philox.uniform(i); });
  std::vector<float> values(order.size());
  const auto middle = static_cast<float>(count) / 2;
  for (std::size_t i = 0; i < order.size(); ++i) values[order[i]] = apart * (static_cast<float>(i) + 0.5F - middle);
  return values;
}

std::vector<std::byte> positions_of(const TensorShape& shape, std::int64_t most, std::uint64_t seed) {
  const Philox philox(Key{.seed = seed});
  const auto size = static_cast<std::size_t>(size_of(shape.dtype));
  std::vector<std::byte> bytes(static_cast<std::size_t>(shape.count()) * size);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(shape.count()); ++i) {
    const std::uint64_t position = philox.below(i, static_cast<std::uint64_t>(std::max<std::int64_t>(most, 1)));
    std::memcpy(bytes.data() + i * size, &position, size);
  }
  return bytes;
}

}  // namespace trigram
