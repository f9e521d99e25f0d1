// Simulated time against the alpha-beta closed forms of every collective.
#include <bit>

#include "tests/sim/rig.hpp"

namespace trigram::testing::closed_forms_test {
namespace {

constexpr double tolerance = 1e-6;
constexpr std::int64_t sizes[] = {4096, 1'000'004, 100'000'000, std::int64_t{1} << 30};

/// Seconds of one message.
double message(double bytes) { return alpha + bytes * beta; }

/// Bytes of the largest chunk, the first: chunks pass from rank to rank, so the largest sets the pace.
double largest_chunk(std::int64_t bytes, int n) { return 4.0 * static_cast<double>(chunk_count(bytes / 4, n, 0)); }

int log2_up(int n) { return std::bit_width(static_cast<unsigned>(n - 1)); }

class ClosedForms : public ::testing::TestWithParam<int> {
 protected:
  static int ranks() { return GetParam(); }

  /// Runs `operation(comm, buffer)` for every size at once and compares with `form(bytes)`.
  static void expect_form(const std::string& name, const std::function<void(Communicator&, Buffer)>& operation,
                          const std::function<double(std::int64_t)>& form, const std::string& all_reduce = "ring") {
    std::vector<Operation> operations;
    for (const std::int64_t bytes : sizes) {
      operations.push_back(
          [&operation, bytes](RankRuntime& runtime) { operation(*runtime.lane(0).comm, phantom(bytes)); });
    }
    World world;
    world.ranks = ranks();
    world.all_reduce = all_reduce;
    const std::vector<double> seconds = durations(flat(ranks()), world, operations);
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      expect_relative(seconds[i], form(sizes[i]), tolerance, name + " of " + std::to_string(sizes[i]) + " bytes");
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Ranks, ClosedForms, ::testing::Values(2, 3, 4, 7, 8, 16, 33, 64));

void all_reduce(Communicator& comm, Buffer x) { comm.all_reduce(x, ReduceOp::sum); }

// 2(n−1)·(α + c·β), c the largest chunk
TEST_P(ClosedForms, RingAllReduce) {
  const int n = ranks();
  expect_form("ring", all_reduce, [n](std::int64_t m) { return 2 * (n - 1) * message(largest_chunk(m, n)); });
}

// lg n·(α + M·β), and two rounds more where n is no power of two
TEST_P(ClosedForms, RecursiveDoubling) {
  const auto n = static_cast<unsigned>(ranks());
  const int rounds = static_cast<int>(std::bit_width(n)) - 1 + (std::has_single_bit(n) ? 0 : 2);
  expect_form(
      "recursive_doubling", all_reduce, [rounds](std::int64_t m) { return rounds * message(static_cast<double>(m)); },
      "recursive_doubling");
}

// 2·lg n·α + 2(n−1)/n·M·β; sizes are even for these n but the second, which may lack an element in n
TEST_P(ClosedForms, Rabenseifner) {
  const int n = ranks();
  if (!std::has_single_bit(static_cast<unsigned>(n))) GTEST_SKIP() << "the closed form is for powers of two";
  std::vector<Operation> operations;
  const std::int64_t even[] = {4096, 1'048'576, std::int64_t{1} << 30};
  for (const std::int64_t bytes : even) operations.push_back(all_reduce_of(bytes));
  World world;
  world.ranks = n;
  world.all_reduce = "rabenseifner";
  const std::vector<double> seconds = durations(flat(n), world, operations);
  for (std::size_t i = 0; i < std::size(even); ++i) {
    expect_relative(seconds[i], 2 * log2_up(n) * alpha + 2.0 * (n - 1) / n * static_cast<double>(even[i]) * beta,
                    tolerance);
  }
}

// 2·⌈lg n⌉·(α + M·β)
TEST_P(ClosedForms, BinomialAllReduce) {
  const int n = ranks();
  expect_form(
      "binomial", all_reduce, [n](std::int64_t m) { return 2 * log2_up(n) * message(static_cast<double>(m)); },
      "binomial");
}

// (n−1)·(α + c·β)
TEST_P(ClosedForms, RingReduceScatterAndAllGather) {
  const int n = ranks();
  const auto form = [n](std::int64_t m) { return (n - 1) * message(largest_chunk(m, n)); };
  expect_form(
      "reduce_scatter", [](Communicator& comm, Buffer x) { comm.reduce_scatter(x, ReduceOp::sum); }, form);
  expect_form(
      "all_gather", [](Communicator& comm, Buffer x) { comm.all_gather(x); }, form);
}

// ⌈lg n⌉·(α + M·β)
TEST_P(ClosedForms, BinomialBroadcastAndReduce) {
  const int n = ranks();
  const auto form = [n](std::int64_t m) { return log2_up(n) * message(static_cast<double>(m)); };
  expect_form(
      "broadcast", [n](Communicator& comm, Buffer x) { comm.broadcast(x, n - 1); }, form);
  expect_form(
      "reduce", [n](Communicator& comm, Buffer x) { comm.reduce(x, ReduceOp::sum, n / 2); }, form);
}

// α + (n−1)·m·β: posted together, the root's NIC carries all parts
TEST_P(ClosedForms, GatherAndScatter) {
  const int n = ranks();
  const auto form = [n](std::int64_t m) { return alpha + static_cast<double>(n - 1) * static_cast<double>(m) * beta; };
  const auto parts = [n](Buffer x) { return std::vector<Buffer>(static_cast<std::size_t>(n), x); };
  expect_form(
      "gather", [&](Communicator& comm, Buffer x) { comm.gather(x, parts(x), 0); }, form);
  expect_form(
      "scatter", [&](Communicator& comm, Buffer x) { comm.scatter(parts(x), x, 1); }, form);
}

// α + (n−1)/n·M·β: posted together, so that one α is paid
TEST_P(ClosedForms, AllToAll) {
  const int n = ranks();
  const auto operation = [n](Communicator& comm, Buffer x) {
    const std::vector<Buffer> parts(static_cast<std::size_t>(n), x.chunk(0, n));
    comm.all_to_all(parts, parts);
  };
  expect_form("all_to_all", operation, [n](std::int64_t m) { return alpha + (n - 1) * largest_chunk(m, n) * beta; });
}

// ⌈lg n⌉·α
TEST_P(ClosedForms, Barrier) {
  const int n = ranks();
  expect_form(
      "barrier", [](Communicator& comm, Buffer) { comm.barrier(); }, [n](std::int64_t) { return log2_up(n) * alpha; });
}

// Ring inside a node: the node's own α and β; between nodes a rank pays the NIC alone.
TEST(NodeLinks, CarryTheTrafficOfTheirNode) {
  const double seconds =
      duration("sim:nodes=1,gpus_per_node=8,node_bandwidth=100GB/s,node_latency=2us", 8, all_reduce_of(81'920'000));
  expect_relative(seconds, 14 * (2e-6 + 1.024e7 / 100e9), tolerance);
}

// Eight ranks send through one NIC: 8·M·β + α; with a NIC each, M·β + α.
TEST(Nics, AreSharedByTheirNodeOrOwnedByAGpu) {
  const Operation shift_node = shift_of(10'000'000, 8);
  const std::string cluster = "sim:nodes=2,gpus_per_node=8,nic_bandwidth=100Gbps,nic_latency=5us,nic=";
  expect_relative(duration(cluster + "node", 16, shift_node), alpha + 8e7 * beta, tolerance);
  expect_relative(duration(cluster + "gpu", 16, shift_node), alpha + 1e7 * beta, tolerance);
}

// α + M·β, and the handshake more for every message beyond its size; a node's own messages have none.
TEST(Handshakes, ArePaidByEachLargeMessageBetweenNodes) {
  const std::string cluster = flat(4, "nic_handshake=2ms,handshake_size=64KiB");
  const double bytes = 65536;
  expect_relative(duration(cluster, 4, all_reduce_of(4 * 65536)), 6 * (alpha + bytes * beta), tolerance);
  expect_relative(duration(cluster, 4, all_reduce_of(4 * 65792)), 6 * (alpha + 2e-3 + (bytes + 256) * beta), tolerance);
  const std::string node = "sim:nodes=2,gpus_per_node=2,node_bandwidth=100GB/s,node_latency=2us,nic_handshake=2ms";
  expect_relative(duration(node, 2, all_reduce_of(80'000'000)), 2 * (2e-6 + 4e7 / 100e9), tolerance);
}

// A flow that stands for six messages pays for each of them, by its own size.
TEST(Handshakes, ArePaidByEachLargeMessageOfAFlow) {
  const std::string cluster = flat(4, "nic_handshake=10us,handshake_size=64KiB,fidelity=fluid");
  const double bytes = 65536;
  expect_relative(duration(cluster, 4, all_reduce_of(4 * 65536)), 6 * (alpha + bytes * beta), tolerance);
  expect_relative(duration(cluster, 4, all_reduce_of(4 * 65792)), 6 * (alpha + 1e-5 + (bytes + 256) * beta), tolerance);
}

TEST(Handshakes, NeedASize) { EXPECT_THROW(duration(flat(2, "handshake_size=1KiB"), 2, all_reduce_of(8)), UsageError); }

// min(bandwidth · efficiency, cap)
TEST(Nics, ReachTheirEfficiencyAndNoMoreThanTheirCap) {
  const auto seconds = [](const std::string& more) { return duration(flat(2, more), 2, all_reduce_of(25'600'000)); };
  expect_relative(seconds("nic_efficiency=0.5"), 2 * (alpha + 12.8e6 * beta / 0.5), tolerance);
  expect_relative(seconds("nic_efficiency=0.5,nic_cap=25Gbps"), 2 * (alpha + 12.8e6 * beta / 0.25), tolerance);
}

// TCP's payload is 1448 of the 1538 bytes that a full frame of 1500 takes on the wire, and 8949 of 9039 of a jumbo one;
// who says the share by hand is believed.
TEST(Frames, LeavePayloadWhatTheirMtuDoes) {
  const double bytes = 1e9;
  for (const auto& [mtu, share] : {std::pair{"mtu=1500B", 1448.0 / 1538},
                                   {"mtu=9001B", 8949.0 / 9039},
                                   {"mtu=9001B,nic_efficiency=0.5", 0.5},
                                   {"mtu=0", 1.0}})
    expect_relative(duration(flat(2, mtu), 2, shift_of(1'000'000'000)), alpha + bytes * beta / share, 1e-6, mtu);
  EXPECT_THROW(Backends::make(flat(2, "mtu=40B")), UsageError);
  EXPECT_THROW(Backends::make(flat(2, "mtu=1GiB")), UsageError);
}

}  // namespace
}  // namespace trigram::testing::closed_forms_test
