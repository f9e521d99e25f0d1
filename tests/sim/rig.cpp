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

double duration(const std::string& backend, int ranks, const Operation& operation, const std::string& all_reduce) {
  World world;
  world.ranks = ranks;
  world.all_reduce = all_reduce;
  return durations(backend, world, {operation}).front();
}

void expect_alike_in_both_fidelities(const std::string& cluster, const std::vector<Operation>& operations) {
  World world;
  world.ranks = Backends::make(cluster)->default_ranks();
  const auto exact = durations(cluster, world, operations);
  const auto fluid = durations(cluster + ",fidelity=fluid", world, operations);
  for (std::size_t i = 0; i < operations.size(); ++i)
    expect_relative(fluid[i], exact[i], 0.02, cluster + " " + std::to_string(i));
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

Operation all_to_all_of(std::int64_t bytes) {
  return [bytes](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const std::vector<Buffer> parts(static_cast<std::size_t>(comm.size()), phantom(bytes));
    comm.all_to_all(parts, parts);
  };
}

Operation by_leader_of(std::int64_t bytes) {
  return [bytes](RankRuntime& runtime) {
    Lane& lane = runtime.lane(0);
    lane.node->reduce(phantom(bytes), ReduceOp::sum, 0);
    if (lane.node->rank() == 0) lane.leaders->all_reduce(phantom(bytes), ReduceOp::sum);
    lane.node->broadcast(phantom(bytes), 0);
  };
}

Operation shift_of(std::int64_t bytes, int distance) {
  return [bytes, distance](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const int to = (comm.rank() + distance) % comm.size(), from = (comm.rank() + comm.size() - distance) % comm.size();
    comm.exchange({Transfer::send_to(to, phantom(bytes)), Transfer::receive_from(from, phantom(bytes))});
  };
}

Operation last_to_first_of(std::int64_t bytes) {
  return [bytes](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const int last = comm.size() - 1;
    if (comm.rank() == last) comm.exchange({Transfer::send_to(0, phantom(bytes))});
    if (comm.rank() == 0) comm.exchange({Transfer::receive_from(last, phantom(bytes))});
  };
}

Operation idle_for(double seconds) {
  return [seconds](RankRuntime& runtime) { runtime.lane(0).device->charge_seconds(seconds); };
}

}  // namespace trigram::testing
