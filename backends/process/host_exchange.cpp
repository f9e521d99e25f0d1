#include "backends/process/host_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/values/error.hpp"

namespace trigram {

std::int64_t HostExchange::agree(std::int64_t value, ReduceOp op) {
  const std::vector<std::int64_t> values = all_gather_number(value);
  if (op == ReduceOp::min) return *std::ranges::min_element(values);
  if (op == ReduceOp::max) return *std::ranges::max_element(values);
  const std::int64_t sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  return op == ReduceOp::mean ? sum / group_.ranks() : sum;
}

std::vector<std::int64_t> HostExchange::all_gather_number(std::int64_t value) {
  Bytes own(sizeof value);
  std::memcpy(own.data(), &value, sizeof value);
  std::vector<std::int64_t> values;
  for (const Bytes& part : all_gather(own)) {
    ensure(part.size() == sizeof value, "rank " + std::to_string(rank()) +
                                            " is in agree(), and another rank is in a different collective call; all "
                                            "ranks must make the same calls in the same order");
    std::memcpy(&values.emplace_back(), part.data(), sizeof value);
  }
  return values;
}

HostExchange::Parts HostExchange::gather(std::int64_t key, const std::vector<std::byte>& part) {
  const std::vector<std::int64_t> keys = all_gather_number(key);
  ensure(std::ranges::count(keys, key) == group_.ranks(),
         "rank " + std::to_string(rank()) +
             " is at another evaluation or checkpoint than some other rank; all ranks must reach them in the same "
             "order");
  return group_.gather(part, patience_);
}

}  // namespace trigram
