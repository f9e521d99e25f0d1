#include "backends/process/process_runtime.hpp"

#include <utility>

namespace trigram {
namespace {

/// Who waits for a rank that hangs in an exchange lets that exchange say so first. Seconds.
constexpr double longer_for_the_host = 5;

}  // namespace

ProcessRuntime::ProcessRuntime(HostGroup& group, const World& world, std::vector<int> node_of_rank, double timeout)
    : RankRuntime(group.rank(), std::make_shared<RankMap>(world.axes(), std::move(node_of_rank)), world.layout()),
      host_(group, {timeout > 0 ? timeout + longer_for_the_host : 0}) {}

void ProcessRuntime::require_one_configuration(const World& world) {
  require_same_on_all_ranks(world.configuration,
                            [this](const std::vector<std::byte>& own) { return host_.all_gather(own); });
}

void ProcessRuntime::collect(std::int64_t key, std::vector<std::byte> part,
                             const std::function<void(Parts)>& complete) {
  const Clock::Stop stop(clock_);
  Parts parts = host_.gather(key, part);
  if (rank() == 0) complete(std::move(parts));
  host_.barrier();
}

void ProcessRuntime::begin() {
  host_.agree(0, ReduceOp::sum);
  clock_.restart();
}

}  // namespace trigram
