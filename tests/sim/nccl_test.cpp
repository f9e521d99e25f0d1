// NCCL's all-reduce on simulated clusters: its phases by hand, what it sends, and what it adds.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/collectives/nccl_model.hpp"
#include "core/lane/all_reduce.hpp"
#include "core/lane/metered.hpp"
#include "tests/sim/rig.hpp"
#include "tests/sim/ring_by_slices.hpp"

namespace trigram::testing::nccl_test {
namespace {

constexpr double tolerance = 1e-6;
constexpr double micro = 1e-6;

double seconds(const std::string& cluster, int ranks, const std::string& all_reduce, std::int64_t bytes) {
  return duration(cluster, ranks, all_reduce_of(bytes), all_reduce);
}

const char* const fidelities[] = {",fidelity=exact", ",fidelity=fluid"};

const std::string eight_a100 = "sim:nodes=1,gpus_per_node=8,node_bandwidth=300GB/s,node_latency=2us";
const std::string two_of_eight =
    "sim:nodes=2,gpus_per_node=8,node_bandwidth=300GB/s,node_latency=2us,nic=gpu,nic_bandwidth=200Gbps,nic_latency=5us";

/// max(B + hop, rounds·hop + B/S + (1 − 1/S)·B/rounds), of a ring of equal hops whose bytes take B, in S slices a
/// chunk.
double ring_time(double bytes, int rounds, double hop, double slices = 2) {
  return std::max(bytes + hop, rounds * hop + bytes * (1 / slices + (1 - 1 / slices) / rounds));
}

// Base of the protocol, then hops and bytes of the ring, 14/8 of the vector, which hide one another: 4 of 8 bytes are
// LL's flags, and it reaches at most 87.7·8/14 GB/s; LL128 20 GB/s in each of 12 channels; Simple has all. A hop is
// NCCL's own constant, whatever the cluster says of single messages. Each rank has a chunk in each of 24 channels,
// twice those that NCCL's model counts: of 42667 bytes LL sends 32768 in a first loop around the ring, eight times 4096
// of them; LL128 sends on 38400 at once, and Simple halves of more than 65536.
TEST(Nccl, RingsOfANodeTakeWhatTheirProtocolDoes) {
  const double edge = 14.0 / 8 / 300e9;
  for (const char* fidelity : fidelities) {
    const auto ring = [&](const std::string& protocol, std::int64_t bytes) {
      return seconds(eight_a100 + fidelity, 8, "nccl:algorithm=ring,protocol=" + protocol, bytes);
    };
    expect_relative(ring("ll", 8'192'000), 6.6 * micro + ring_time(8.192e6 / (87.7e9 * 8 / 14), 2 * 14, 0.6 * micro, 8),
                    tolerance);
    expect_relative(ring("ll", 8'192), 6.6 * micro + ring_time(8'192 / (87.7e9 * 8 / 14), 14, 0.6 * micro, 1), 1e-4);
    expect_relative(ring("ll128", 8'192'000),
                    14 * micro + ring_time(8.192e6 / (12 * 20e9 * 8 / 14), 14, 1.9 * micro, 8.192e6 / 192 / 38400),
                    tolerance);
    expect_relative(ring("simple", 81'920'000), 8.4 * micro + ring_time(8.192e7 * edge, 14, 3.4 * micro), tolerance);
  }
}

// What all channels send in a round takes a tenth of a hop, about as long, and thirty times as long. A channel's chunk
// goes whole where it has 32 KiB or less, else as two slices; of more than 2 MiB it goes around the ring twice.
TEST(Nccl, SendsSlicesOnAsTheyCome) {
  struct Case {
    std::int64_t chunk;
    int loops;
    std::size_t slices;
  };
  const double hop = 3.4 * micro;
  for (const auto& [chunk, loops, slices] :
       {Case{24 * 4096, 1, 1}, {24 * 32768, 1, 1}, {24 * 65536, 1, 2}, {24 * 131072, 1, 2}, {48 * 2097152, 2, 2}}) {
    const std::vector<double> latency(8, hop), times(8, static_cast<double>(chunk) / loops / 300e9);
    for (const char* fidelity : fidelities)
      expect_relative(seconds(eight_a100 + fidelity, 8, "nccl:algorithm=ring,protocol=simple", 8 * chunk),
                      8.4 * micro + ring_by_slices(latency, times, 14 * loops, slices), 1e-3,
                      "chunks of " + std::to_string(chunk));
  }
}

// As NCCL says when it starts: 24 on eight A100 (NVSwitch), 12 on eight V100 (DGX-1). Fewer of what has less than 64
// bytes (of each rank with LL's rings 8, of all with LL128 8) for each of a channel's threads, or 16 KiB on links.
TEST(Nccl, UsesFewerChannelsForShortVectors) {
  constexpr NcclChoice ll{NcclAlgorithm::ring, NcclProtocol::ll}, ll128{NcclAlgorithm::ring, NcclProtocol::ll128},
      simple{NcclAlgorithm::ring, NcclProtocol::simple};
  const NcclModel ampere({300e9, 25e9, 8}, 8, 1), volta({150e9, 12.5e9, 1}, 8, 1);
  EXPECT_EQ(ampere.channels(simple, 1 << 28), 24);
  EXPECT_EQ(volta.channels(simple, 1 << 28), 12);
  EXPECT_EQ(ampere.channels(simple, 10 * 512 * 64), 10);
  EXPECT_EQ(ampere.channels(ll, 10 * 512 * 8 * 8), 10);
  EXPECT_EQ(ampere.channels(ll128, 10 * 8192), 10);
  EXPECT_EQ(ampere.channels(simple, 8), 1);
  EXPECT_EQ(NcclModel({300e9, 6.25e9, 8, 8}, 16, 2).channels(simple, 1 << 28), 8) << "as its log says of two p4d";
}

// Up and down a chain of eight and one hop between nodes, of hardly a byte. Where each GPU has a NIC, that NIC is asked
// whether all has arrived, for one more latency; with LL, whose data have flags, it is not.
TEST(Nccl, AsksNicsWhetherAllHasArrived) {
  const std::string nodes =
      "sim:nodes=2,gpus_per_node=8,node_bandwidth=300GB/s,nic_bandwidth=200Gbps,nic_latency=30us,nic=";
  for (const char* fidelity : fidelities) {
    const auto tree = [&](const std::string& nic, const std::string& protocol) {
      return seconds(nodes + nic + fidelity, 16, "nccl:algorithm=tree,protocol=" + protocol, 256);
    };
    expect_relative(tree("gpu", "simple"), (8.4 + 2 * (7 * 4.0 + 30 + 9 + 30)) * micro, 1e-3);
    expect_relative(tree("node", "simple"), (8.4 + 2 * (7 * 4.0 + 30 + 9)) * micro, 1e-3);
    expect_relative(tree("gpu", "ll"), (6.8 + 2 * (7 * 0.6 + 30)) * micro, 1e-3);
  }
}

// Two nodes of one GPU: up and down one hop; half of the vector each way in both trees, of which trees reach
// 0.92; and a chunk of 512 KiB in each of two channels waits for the hop back.
TEST(Nccl, TreesOfTwoNodesSendTheVectorOnceEachWay) {
  const double bytes = 1 << 27, nic = 12.5e9;
  for (const char* fidelity : fidelities) {
    const std::string cluster = "sim:nodes=2,gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=5us";
    expect_relative(seconds(cluster + fidelity, 2, "nccl:algorithm=tree,protocol=simple", 1 << 27),
                    (8.4 + 2 * (5 + 9)) * micro + bytes / nic / 0.92 + 2 * 524288 / nic, 1e-5);
  }
}

// A switch that adds: every GPU sends its vector and an eighth of sums, at 0.85 of its links; before and after all
// stages work, a round of 16 channels' and 8 heads' chunks, of 128 KiB for vectors as large, is copied in and out.
TEST(Nccl, NvlinkSharpSendsTheVectorOnce) {
  const std::string cluster = "sim:nodes=1,gpus_per_node=8,node_bandwidth=450GB/s,node_latency=2us,node_efficiency=0.8";
  const double bytes = 1LL << 31, rate = 0.8 * 450e9 * 0.85 / 1.125, round = 16 * 8 * 131072;
  for (const char* fidelity : fidelities) {
    expect_relative(seconds(cluster + fidelity, 8, "nccl", 1LL << 31), 25 * micro + (bytes + 2 * round) / rate, 1e-5);
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
      expect_relative(time, 8.4 * micro + ring_time(7.0 / 8 * 8.192e7 / 300e9, 7, 3.4 * micro), tolerance);
  }
}

// Two channels on four nodes, chunks of 512 KiB: the last byte leaves the root after M·β and then goes three hops, in
// which each node passes a chunk on when it has it whole. A binomial tree of whole vectors takes twice as long.
TEST(Nccl, BroadcastsAndReducesAlongChains) {
  World world;
  world.ranks = 4;
  world.all_reduce = "nccl:protocol=simple";
  const std::int64_t bytes = 1 << 26;
  const auto broadcast = [&](RankRuntime& runtime) { runtime.lane(0).comm->broadcast(phantom(bytes), 1); };
  const auto reduce = [&](RankRuntime& runtime) { runtime.lane(0).comm->reduce(phantom(bytes), ReduceOp::sum, 2); };
  const double hop = (5 + 9) * micro, nic = 12.5e9;
  for (const char* fidelity : fidelities) {
    for (const double time : durations(flat(4) + fidelity, world, {broadcast, reduce}))
      expect_relative(time, 8.4 * micro + bytes / nic + 3 * hop + 2 * 2 * 524288 / nic, 1e-5);
  }
}

// Whose bytes are those that links carry: all but the last of a chain send each part once.
TEST(Nccl, ChainsAreMeteredAsTheyFlow) {
  World world;
  world.ranks = 16;
  world.all_reduce = "nccl";
  for (const bool reduces : {false, true}) {
    const auto sent = run_ranks<std::int64_t>(two_of_eight, world, [&](RankRuntime& runtime) {
      Lane& lane = runtime.lane(0);
      const std::int64_t bytes = lane.meter.total().bytes, leaving = lane.meter.to_other_nodes();
      reduces ? lane.comm->reduce(phantom(1 << 20), ReduceOp::sum, 3) : lane.comm->broadcast(phantom(1 << 20), 3);
      return std::vector<std::int64_t>{lane.meter.total().bytes - bytes, lane.meter.to_other_nodes() - leaving};
    });
    std::int64_t all = 0, leaving = 0;
    for (const auto& of_rank : sent) {
      all += of_rank[0];
      leaving += of_rank[1];
    }
    EXPECT_EQ(all, 15 << 20);
    EXPECT_EQ(leaving, 15 << 17) << "seven rails cross and come back to the root's node; the root's own only crosses";
  }
}

// A broadcast under NCCL brings the root's numbers, and a reduce all ranks' sum.
TEST(Nccl, ChainsBringTheNumbers) {
  World world;
  world.ranks = 16;
  world.all_reduce = "nccl";
  const auto results = run_ranks<std::int32_t>(two_of_eight, world, [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const OwnedBuffer x = on_device<std::int32_t>(comm.device(), {comm.rank()});
    comm.reduce(x, ReduceOp::sum, 5);
    comm.broadcast(x, 5);
    return on_host<std::int32_t>(comm.device(), x);
  });
  for (const auto& result : results) EXPECT_EQ(result.front(), 120);
}

TEST(Nccl, RefusesByNameWhatIsNotModelled) {
  for (const char* name : {"pat", "collnet", "collnet_direct", "collnet_chain"}) {
    try {
      all_reduce_named(std::string("nccl:algorithm=") + name);
      FAIL() << name << " was not refused";
    } catch (const UsageError& error) {
      EXPECT_NE(
          std::string(error.what()).find(std::string("'") + name + "' is an algorithm of NCCL that is not modelled"),
          std::string::npos)
          << error.what();
    }
  }
}

// Where links are what NCCL takes them for, what its table calls fastest is simulated as fastest, or nearly so, for
// large vectors, and its rings take what the table says. (Of smaller ones the table adds latencies to bytes that hide
// them.)
TEST(Nccl, IsTimedByTheModelThatChose) {
  struct Place {
    const char* cluster;
    Links links;
    int ranks, nodes;
  };
  const Place places[] = {
      {"sim:nodes=1,gpus_per_node=8,node_bandwidth=240GB/s", {300e9, 25e9, 8}, 8, 1},
      {"sim:nodes=1,gpus_per_node=8,node_bandwidth=360GB/s", {450e9, 50e9, 8}, 8, 1},
      {"sim:nodes=2,gpus_per_node=8,node_bandwidth=360GB/s,nic=gpu,nic_bandwidth=360Gbps", {450e9, 50e9, 8}, 16, 2},
      {"sim:nodes=4,gpus_per_node=8,node_bandwidth=360GB/s,nic=gpu,nic_bandwidth=360Gbps", {450e9, 50e9, 8}, 32, 4},
      {"sim:nodes=4,gpus_per_node=1,nic_bandwidth=96Gbps", {150e9, 12.5e9, 1}, 4, 4}};
  for (const auto& [cluster, links, ranks, nodes] : places) {
    const NcclModel model(links, ranks, nodes);
    for (const std::int64_t bytes : {std::int64_t{1} << 31, std::int64_t{1} << 33}) {
      std::map<NcclAlgorithm, double> simulated;
      for (const NcclAlgorithm algorithm : nccl_algorithms) {
        if (!std::isfinite(model.seconds({algorithm, NcclProtocol::simple}, bytes))) continue;
        constexpr std::array names{"tree", "ring", "nvls", "nvls_tree"};
        const std::string how = "nccl:protocol=simple,node_bandwidth=" + number_text(links.node_bandwidth) +
                                "B/s,nic_bandwidth=" + number_text(links.nic_bandwidth) +
                                "B/s,nics=" + std::to_string(links.nics) +
                                ",algorithm=" + names[static_cast<std::size_t>(algorithm)];
        simulated[algorithm] = seconds(std::string(cluster) + ",fidelity=fluid", ranks, how, bytes);
      }
      double least = simulated.begin()->second;
      for (const auto& [algorithm, time] : simulated) least = std::min(least, time);
      EXPECT_LE(simulated.at(model.choose(bytes).algorithm), 1.1 * least) << bytes << " bytes on " << cluster;
      expect_relative(simulated.at(NcclAlgorithm::ring),
                      model.seconds({NcclAlgorithm::ring, NcclProtocol::simple}, bytes), 0.035,
                      std::to_string(bytes) + " bytes by rings on " + cluster);
    }
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
        const OwnedBuffer x = on_device(comm.device(), values);
        comm.all_reduce(x, ReduceOp::sum);
        return on_host<std::int32_t>(comm.device(), x);
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
