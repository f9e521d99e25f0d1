#include "ptx/execution/launch.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "core/values/error.hpp"
#include "ptx/execution/block.hpp"

namespace trigram::ptx {

namespace {

void require_launchable(const Kernel& kernel, const Launch& launch) {
  const std::uint64_t threads = count(launch.block);
  require(threads >= kernel.least_threads && threads <= kernel.most_threads, "kernel ", kernel.name,
          " runs with blocks of ", kernel.least_threads, " to ", kernel.most_threads, " threads, and not of ", threads);
  const std::uint64_t blocks = count(launch.grid);
  require(blocks > 0 && blocks <= std::numeric_limits<std::uint32_t>::max(), "a grid of ", blocks,
          " blocks cannot be run");
  require(launch.parameters.size() == kernel.parameter_bytes, "kernel ", kernel.name, " takes ", kernel.parameter_bytes,
          " bytes of parameters, and not ", launch.parameters.size());
}

std::vector<std::uint32_t> order_of_blocks(std::uint64_t blocks, Order order, std::mt19937_64& random) {
  std::vector<std::uint32_t> numbers(blocks);
  std::iota(numbers.begin(), numbers.end(), 0U);
  if (order == Order::last_ahead) std::ranges::reverse(numbers);
  if (order == Order::shuffled) {
    // Not std::shuffle, which draws otherwise in other libraries.
    for (std::uint64_t left = blocks; left > 1; --left) std::swap(numbers[left - 1], numbers[random() % left]);
  }
  return numbers;
}

}  // namespace

void launch(const Kernel& kernel, const Launch& launch, Memory& memory, Schedule schedule, Observer* observer) {
  require_launchable(kernel, launch);
  std::mt19937_64 random(schedule.seed);
  Block block(kernel, launch, memory, schedule, observer);
  if (observer != nullptr) observer->kernel_begins(kernel, launch);
  for (const std::uint32_t number : order_of_blocks(count(launch.grid), schedule.order, random)) {
    const Dimensions grid = launch.grid;
    block.run({number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y}, random);
  }
  block.end();
  if (observer != nullptr) observer->kernel_ends();
}

}  // namespace trigram::ptx
