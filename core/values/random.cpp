// Random orders from a Philox stream.
#include "core/values/random.hpp"

#include <numeric>
#include <utility>

namespace trigram {

std::vector<std::int64_t> random_permutation(const Philox& philox, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[philox.below(i - 1, i)]);
  return order;
}

}  // namespace trigram
