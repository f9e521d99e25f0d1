// NCCL's all-reduce on simulated clusters: its phases by hand, what it sends, and what it adds.
#include <numeric>

#include "core/all_reduce.hpp"
#include "core/metered.hpp"
#include "tests/sim/rig.hpp"

namespace trigram::testing::nccl_test {
namespace {

constexpr double tolerance = 1e-6;
constexpr double micro = 1e-6;

double seconds(const std::string& cluster, int ranks, const std::string& all_reduce, std::int64_t bytes) {
  World world;
  world.ranks = ranks;
  world.all_reduce = all_reduce;
  return durations(cluster, world, {all_reduce_of(bytes)}).front();
}

const char* const fidelities[] = {",fidelity=exact", ",fidelity=fluid"};

const std::string eight_a100 = "sim:nodes=1,gpus_per_node=8,node_bandwidth=300GB/s,node_latency=2us";
const std::string two_of_eight =
    "sim:nodes=2,gpus_per_node=8,node_bandwidth=300GB/s,node_latency=2us,nic=gpu,nic_bandwidth=200Gbps,nic_latency=5us";

// Base of the protocol, 14 hops of the ring, 14/8 of the vector: 4 of 8 bytes are LL's flags, and it reaches at most
// 87.7·8/14 GB/s; LL128 20 GB/s in each of 12
// channels; Simple has all. A hop is the link's latency and what the protocol adds to that of LL.
TEST(Nccl, RingsOfANodeTakeWhatTheirProtocolDoes) {
  const double edge = 14.0 / 8 / 300e9;
  for (const char* fidelity : fidelities) {
    const auto ring = [&](const std::string& protocol, std::int64_t bytes) {
      return seconds(eight_a100 + fidelity, 8, "nccl:algorithm=ring,protocol=" + protocol, bytes);
    };
    expect_relative(ring("ll", 8'192'000), (6.6 + 14 * 2) * micro + 8.192e6 / (87.7e9 * 8 / 14), tolerance);
    expect_relative(ring("ll128", 8'192'000), (14 + 14 * (2 + 1.3)) * micro + 8.192e6 / (12 * 20e9 * 8 / 14),
                    tolerance);
    expect_relative(ring("simple", 81'920'000), (8.4 + 14 * (2 + 2.8)) * micro + 8.192e7 * edge, tolerance);
  }
}

// Two nodes of one GPU: up and down one hop; half of the vector each way in both trees, of which Simple reaches
// 0.92·0.9 at 128 MiB; and a chunk of 512 KiB waits for the hop back.
TEST(Nccl, TreesOfTwoNodesSendTheVectorOnceEachWay) {
  const double bytes = 1 << 27, nic = 12.5e9;
  for (const char* fidelity : fidelities) {
    const std::string cluster = "sim:nodes=2,gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=5us";
    expect_relative(seconds(cluster + fidelity, 2, "nccl:algorithm=tree,protocol=simple", 1 << 27),
                    (8.4 + 2 * (5 + 9)) * micro + bytes / nic / (0.92 * 0.9) + 524288 / nic, 1e-5);
  }
}

// A switch that adds: every GPU sends its vector and an eighth of sums, at 0.85 of its links; before and after all
// stages work, a round of 16 channels' and 8 heads' chunks, of 128 KiB for vectors as large, is copied in and out.
TEST(Nccl, NvlinkSharpSendsTheVectorOnce) {
  const std::string cluster = "sim:nodes=1,gpus_per_node=8,node_bandwidth=450GB/s,node_latency=2us,node_efficiency=0.8";
  const double bytes = 1LL << 31, rate = 0.8 * 450e9 * 0.85 / 1.125, round = 16 * 8 * 131072;
  for (const char* fidelity : fidelities) {
    expect_relative(seconds(cluster + fidelity, 8, "nccl", 1LL << 31),
                    (25 + 2 * (2 - 0.6)) * micro + (bytes + 2 * round) / rate, 1e-5);
  }
}

// Once around: seven hops, 7/8 of the vector; ranks get their sums, and all chunks back.
TEST(Nccl, ReduceScattersAndGathersInItsRings) {
  World world;
  world.ranks = 8;
  world.all_reduce = "nccl:protocol=simple";
  const auto scatter = [](RankRuntime& runtime) {
    runtime.lane(0).comm->reduce_scatter(phantom(81'920'000), ReduceOp::sum);
  };
  const auto gather = [](RankRuntime& runtime) { runtime.lane(0).comm->all_gather(phantom(81'920'000)); };
  for (const char* fidelity : fidelities) {
    for (const double time : durations(eight_a100 + fidelity, world, {scatter, gather}))
      expect_relative(time, (8.4 + 7 * (2 + 2.8)) * micro + 7.0 / 8 * 8.192e7 / 300e9, tolerance);
  }
}

TEST(Nccl, TakesWhatTheFasterOfItsChoicesDoesByItsModel) {
  const auto of = [&](const std::string& how, std::int64_t bytes) { return seconds(eight_a100, 8, how, bytes); };
  EXPECT_DOUBLE_EQ(of("nccl", 1 << 16), of("nccl:algorithm=ring,protocol=ll", 1 << 16));
  EXPECT_DOUBLE_EQ(of("nccl", 1 << 23), of("nccl:algorithm=ring,protocol=ll128", 1 << 23));
  EXPECT_DOUBLE_EQ(of("nccl", 1 << 28), of("nccl:algorithm=ring,protocol=simple", 1 << 28));
}

TEST(Nccl, IsTheSameInBothFidelities) {
  const std::string shared = "sim:nodes=7,gpus_per_node=4,nic_bandwidth=100Gbps";
  const std::string hopper = "sim:nodes=5,gpus_per_node=8,node_bandwidth=450GB/s,nic=gpu,nic_bandwidth=400Gbps";
  for (const auto& [cluster, ranks] : {std::pair{two_of_eight, 16}, {shared, 28}, {hopper, 40}}) {
    for (const char* how : {"nccl", "nccl:algorithm=tree", "nccl:algorithm=ring"}) {
      for (const std::int64_t bytes : {std::int64_t{1} << 12, std::int64_t{1} << 20, std::int64_t{1} << 27}) {
        expect_relative(seconds(cluster + ",fidelity=fluid", ranks, how, bytes), seconds(cluster, ranks, how, bytes),
                        0.02, std::string(how) + " of " + std::to_string(bytes));
      }
    }
  }
}

const char* const ways[] = {"nccl:algorithm=ring", "nccl:algorithm=tree", "nccl:algorithm=nvls_tree"};

// What each rank declares is what its streams carry.
TEST(Nccl, DeclaresTheBytesOfItsStreams) {
  for (const auto& [nodes, of_node, nics] : {std::tuple{1, 8, 1}, {2, 8, 8}, {3, 4, 1}, {5, 2, 2}, {6, 1, 1}}) {
    const int n = nodes * of_node;
    std::vector<int> node_of;
    for (int rank = 0; rank < n; ++rank) node_of.push_back(rank / of_node);
    const Neighbourhood where{node_of, nics > 1, [](int, int) { return 1e-6; }};
    for (const char* way : ways) {
      const std::string spec = all_reduce_named(way).knowing({450e9, 50e9, nics});
      const AllReduce& how = all_reduce_named(spec);
      const std::int64_t count = std::int64_t{chunk_grain} * n * 2 * nics;
      std::vector<std::int64_t> sent(static_cast<std::size_t>(n), 0), declared = sent;
      for (const Pipeline::Stream& stream : how.pipeline(where, phantom(4 * count)).streams)
        sent[static_cast<std::size_t>(stream.from)] += stream.bytes;
      for (int rank = 0; rank < n; ++rank)
        declared[static_cast<std::size_t>(rank)] = how.cost_at(placement(node_of, rank), count, 4).bytes;
      EXPECT_EQ(sent, declared) << way << " on " << nodes << " nodes of " << of_node;
    }
  }
}

// 2(n−1)/n of the vector in a ring; from the ends of a tree's chains nothing but one part each way.
TEST(Nccl, IsMeteredAsItDeclares) {
  World world;
  world.ranks = 16;
  for (const auto& [way, sum] : {std::pair{"nccl:algorithm=ring", 30.0}, {"nccl:algorithm=tree", 30.0}}) {
    world.all_reduce = way;
    const auto bytes = run_ranks<std::int64_t>(two_of_eight, world, [](RankRuntime& runtime) {
      Lane& lane = runtime.lane(0);
      const Cost before = lane.meter.total();
      lane.comm->all_reduce(phantom(1 << 20), ReduceOp::sum);
      return std::vector<std::int64_t>{lane.meter.total().bytes - before.bytes};
    });
    double all = 0;
    for (const auto& of_rank : bytes) all += static_cast<double>(of_rank.front());
    EXPECT_DOUBLE_EQ(all / (1 << 20), sum) << way;
  }
}

TEST(Nccl, AddsWhatAllRanksBring) {
  constexpr std::int64_t count = 4001;
  for (const auto& [cluster, ranks] : {std::pair<std::string, int>{two_of_eight, 16},
                                       {"sim:nodes=3,gpus_per_node=2 3 4", 9},
                                       {"sim:nodes=7,gpus_per_node=1", 7}}) {
    for (const char* way : ways) {
      World world;
      world.ranks = ranks;
      world.all_reduce = way;
      const auto results = run_ranks<std::int32_t>(cluster, world, [](RankRuntime& runtime) {
        Communicator& comm = *runtime.lane(0).comm;
        std::vector<std::int32_t> values(count);
        std::iota(values.begin(), values.end(), comm.rank());
        const OwnedBuffer x = comm.device().allocate(Shape::of(count, DType::i32));
        comm.device().upload(std::as_bytes(std::span(values)), x);
        comm.all_reduce(x, ReduceOp::sum);
        comm.device().download(x, std::as_writable_bytes(std::span(values)));
        return values;
      });
      for (const auto& result : results) {
        for (const std::int64_t i : {std::int64_t{0}, count / 2, count - 1})
          EXPECT_EQ(result[static_cast<std::size_t>(i)], ranks * i + ranks * (ranks - 1) / 2) << way;
      }
    }
  }
}

}  // namespace
}  // namespace trigram::testing::nccl_test
