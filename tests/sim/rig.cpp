// The rig of the simulator's tests.
#include "tests/sim/rig.hpp"

namespace trigram::testing {

std::string flat(int ranks, const std::string& more) {
  return "sim:gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=5us,nodes=" + std::to_string(ranks) +
         (more.empty() ? "" : "," + more);
}

Buffer phantom(std::int64_t bytes) { return {nullptr, Shape{bytes / 4, DType::f32, bytes / 4, true}}; }

std::vector<double> durations(const std::string& backend, World world, const std::vector<Operation>& operations) {
  const auto results = run_ranks<double>(backend, world, [&](RankRuntime& runtime) {
    std::vector<double> seconds;
    for (const Operation& operation : operations) {
      runtime.agree(0, ReduceOp::sum);
      const double begin = runtime.now();
      operation(runtime);
      runtime.agree(0, ReduceOp::sum);
      seconds.push_back(runtime.now() - begin);
    }
    return seconds;
  });
  return results.front();
}

double duration(const std::string& backend, int ranks, const Operation& operation) {
  World world;
  world.ranks = ranks;
  return durations(backend, world, {operation}).front();
}

Outcome simulate(const std::string& backend, int ranks, const Operation& operation) {
  World world;
  world.ranks = ranks;
  return Backends::make(backend)->run(world, [&](RankRuntime& runtime) {
    operation(runtime);
    return std::vector<std::byte>{};
  });
}

Operation all_reduce_of(std::int64_t bytes) {
  return [bytes](RankRuntime& runtime) { runtime.lane(0).comm->all_reduce(phantom(bytes), ReduceOp::sum); };
}

}  // namespace trigram::testing
