#include "experiments/measure/median.hpp"

#include <algorithm>
#include <vector>

#include "core/values/error.hpp"

namespace trigram {

double median(std::span<const double> values) {
  ensure(!values.empty(), "there is no median of nothing");
  std::vector<double> ascending(values.begin(), values.end());
  std::sort(ascending.begin(), ascending.end());
  const std::size_t middle = ascending.size() / 2;
  return ascending.size() % 2 == 1 ? ascending[middle] : (ascending[middle - 1] + ascending[middle]) / 2;
}

}  // namespace trigram
