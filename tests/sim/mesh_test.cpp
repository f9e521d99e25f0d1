// What collectives along an axis of a mesh cost in the network that their ranks are on.
#include "core/lane/worker.hpp"
#include "tests/sim/rig.hpp"

namespace trigram::testing {
namespace {

constexpr std::int64_t bytes = 128'000'000;

/// 2(n − 1) rounds of chunks of 1/n, each at `share` of a NIC or link of so many bytes a second.
double ring(int ranks, double latency, double seconds_per_byte) {
  return 2 * (ranks - 1) * (latency + static_cast<double>(bytes) / ranks * seconds_per_byte);
}

class MeshCosts : public ::testing::TestWithParam<std::string> {
 protected:
  /// An all-reduce along one axis, in all of its lines at once.
  static double along(const std::string& cluster, const std::string& mesh, const std::string& axis) {
    World world;
    world.ranks = 8;
    world.mesh = mesh;
    const Operation operation = [&](RankRuntime& runtime) {
      Worker(runtime, 0, {}).group(axis).all_reduce(phantom(bytes), ReduceOp::sum);
    };
    return durations(cluster + ",fidelity=" + GetParam(), world, {operation}).front();
  }
};

INSTANTIATE_TEST_SUITE_P(Fidelities, MeshCosts, ::testing::Values("exact", "fluid"));

// A NIC for each rank: every line is as fast as if it were alone.
TEST_P(MeshCosts, AreThoseOfALineAloneWhereNothingIsShared) {
  expect_relative(along(flat(8), "data=4,tensor=2", "data"), ring(4, alpha, beta), 1e-6);
  expect_relative(along(flat(8), "data=4,tensor=2", "tensor"), ring(2, alpha, beta), 1e-6);
  expect_relative(along(flat(8), "data=2,expert=2,tensor=2", "expert"), ring(2, alpha, beta), 1e-6);
}

// Four nodes of two GPUs behind one NIC: the two data lines share each NIC, and neighbours stay inside their node.
TEST_P(MeshCosts, ShareTheNicWhereLinesDo) {
  const std::string cluster =
      "sim:nodes=4,gpus_per_node=2,nic_bandwidth=100Gbps,nic_latency=5us,node_bandwidth=100GB/s,node_latency=2us";
  expect_relative(along(cluster, "data=4,tensor=2", "data"), ring(4, alpha, 2 * beta), 1e-6);
  expect_relative(along(cluster, "data=4,tensor=2", "tensor"), ring(2, 2e-6, 1 / 100e9), 1e-6);
}

}  // namespace
}  // namespace trigram::testing
