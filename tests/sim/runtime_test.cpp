// Ranks and lanes as actors: overlap, determinism, and every way to end.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/sim/rig.hpp"

namespace trigram::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int layers = 50;

/// Each layer computes 1 ms, then its 4.1 MB are all-reduced on lane 1.
Operation train(bool overlap) {
  return [overlap](RankRuntime& runtime) {
    std::vector<Pending> pending;
    for (int layer = 0; layer < layers; ++layer) {
      runtime.lane(0).device->charge_seconds(1e-3);
      const auto reduce = [&runtime] { runtime.lane(1).comm->all_reduce(phantom(4'096'000), ReduceOp::sum); };
      if (overlap) {
        pending.push_back(runtime.launch(1, reduce));
      } else {
        reduce();
      }
    }
    for (Pending& one : pending) one.wait();
  };
}

// Serial: 50·(1 ms + ring). Overlapped: 50 ms + the last ring, since a ring of 16 takes 0.75 ms.
TEST(Lanes, HideCommunicationBehindCompute) {
  const double ring = 30 * (alpha + 256'000 * beta);
  for (const char* fidelity : {"fidelity=exact", "fidelity=fluid"}) {
    expect_relative(duration(flat(16, fidelity), 16, train(false)), layers * (1e-3 + ring), 1e-6);
    expect_relative(duration(flat(16, fidelity), 16, train(true)), layers * 1e-3 + ring, 1e-6);
  }
}

TEST(Lanes, ShareTheGpuOfTheirRank) {
  const auto both = [](RankRuntime& runtime) {
    Pending codec = runtime.launch(1, [&runtime] { runtime.lane(1).device->charge_seconds(1e-3); });
    runtime.lane(0).device->charge_seconds(1e-3);
    codec.wait();
  };
  expect_relative(duration(flat(2), 2, both), 2e-3, 1e-6);
}

TEST(Lanes, RunTheirBodiesInOrderAndKnowWhenTheyAreDone) {
  const auto results = run_ranks<std::int64_t>(flat(2), 2, [](RankRuntime& runtime) {
    std::vector<std::int64_t> seen;
    Pending first = runtime.launch(1, [&] {
      runtime.lane(1).device->charge_seconds(1e-3);
      seen.push_back(1);
    });
    Pending second = runtime.launch(1, [&] { seen.push_back(2); });
    seen.push_back(first.done() ? -1 : 0);
    runtime.lane(0).device->charge_seconds(5e-3);
    seen.push_back(second.done() ? 3 : -3);
    return seen;
  });
  EXPECT_EQ(results.front(), (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(Lanes, HandTheirErrorToWhoeverWaits) {
  const auto results = run_ranks<std::int64_t>(flat(2), 2, [](RankRuntime& runtime) {
    Pending pending = runtime.launch(1, [] { throw UsageError("from a lane"); });
    try {
      pending.wait();
    } catch (const UsageError&) {
      return std::vector<std::int64_t>{1};
    }
    return std::vector<std::int64_t>{0};
  });
  EXPECT_EQ(results, (std::vector<std::vector<std::int64_t>>{{1}, {1}}));
}

TEST(Runs, AreTheSameToTheBit) {
  const auto once = [] {
    const auto results = run_ranks<double>("sim:nodes=3,gpus_per_node=3 4 5,changes=(1ms/nic_bandwidth/1/3Gbps)", 12,
                                           [](RankRuntime& runtime) {
                                             Communicator& comm = *runtime.lane(0).comm;
                                             std::vector<double> times;
                                             for (int i = 0; i < 5; ++i) {
                                               comm.all_reduce(phantom(1'000'004), ReduceOp::sum);
                                               runtime.lane(0).device->charge_seconds(1e-4 * comm.rank());
                                               times.push_back(runtime.now());
                                             }
                                             return times;
                                           });
    return results;
  };
  const auto first = once();
  EXPECT_GT(first.front().back(), 0);
  EXPECT_EQ(once(), first);
}

TEST(Runs, OfOneBackendStartAtZero) {
  const auto backend = Backends::make(flat(4));
  World world;
  world.ranks = 4;
  const RankBody body = [](RankRuntime& runtime) {
    all_reduce_of(1'000'000)(runtime);
    return std::vector<std::byte>{};
  };
  const double first = backend->run(world, body).seconds;
  EXPECT_GT(first, 0);
  EXPECT_EQ(backend->run(world, body).seconds, first);
}

// Each rank blocks inside its own catch clause, while the others do the same with other exceptions.
TEST(Exceptions, StayWithTheirRankWhenItBlocksInACatch) {
  const auto results = run_ranks<std::int64_t>(flat(8), 8, [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    std::int64_t right = 0;
    for (int round = 0; round < 20; ++round) {
      const std::string mine = "rank " + std::to_string(comm.rank()) + " round " + std::to_string(round);
      try {
        try {
          throw Error(mine);
        } catch (const Error& error) {
          runtime.lane(0).device->charge_seconds(1e-6 * (1 + comm.rank()));
          comm.barrier();
          if (error.what() == mine) ++right;
          throw;
        }
      } catch (const Error& error) {
        if (error.what() == mine) ++right;
      }
    }
    return std::vector<std::int64_t>{right};
  });
  for (const auto& result : results) EXPECT_EQ(result.front(), 40);
}

TEST(Errors, OfTheFirstRankComeHomeWithTypeAndText) {
  const auto throwing = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() == 2) throw UsageError("rank 2 has a bad batch");
    runtime.lane(0).comm->barrier();
  };
  EXPECT_EQ(failure<UsageError>(flat(4), 4, throwing), "rank 2 has a bad batch");
  const auto failing = [](RankRuntime&) -> void { throw std::out_of_range("elsewhere"); };
  EXPECT_EQ(failure<Error>(flat(4), 4, failing), "elsewhere");
}

TEST(Errors, OfARankWithRunningLanesReleaseEverybody) {
  const auto throwing = [](RankRuntime& runtime) {
    Pending pending =
        runtime.launch(1, [&runtime] { runtime.lane(1).comm->all_reduce(phantom(4'096'000), ReduceOp::sum); });
    if (runtime.lane(0).comm->rank() == 1) {
      runtime.lane(0).device->charge_seconds(1e-5);
      throw Error("rank 1 stops");
    }
    pending.wait();
  };
  EXPECT_EQ(failure<Error>(flat(4), 4, throwing), "rank 1 stops");
}

TEST(Errors, OfADeadlockNameWhoWaitsForWhom) {
  const auto both_receive = [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    comm.exchange({Transfer::receive_from(1 - comm.rank(), phantom(400))});
  };
  EXPECT_THAT(failure<BackendError>(flat(2), 2, both_receive),
              AllOf(HasSubstr("rank 0"), HasSubstr("a receive of 400 bytes from rank 1"), HasSubstr("deadlock")));
  const auto only_some = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() != 1) all_reduce_of(4000)(runtime);
  };
  EXPECT_THAT(failure<BackendError>(flat(4, "fidelity=fluid"), 4, only_some), HasSubstr("all_reduce"));
}

TEST(Errors, OfATimeoutComeWhenItHasPassed) {
  const auto slow_peer = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() == 1) runtime.lane(0).device->charge_seconds(10);
    runtime.lane(0).comm->barrier();
  };
  EXPECT_THAT(failure<BackendError>(flat(2, "timeout=2s"), 2, slow_peer),
              AllOf(HasSubstr("timeout at 2"), HasSubstr("cluster.timeout is 2 s"), HasSubstr("rank 0")));
  EXPECT_EQ(failure<BackendError>(flat(2, "timeout=20s"), 2, slow_peer), "");
}

TEST(Errors, OfDifferentSizesNameBothRanks) {
  const auto differing = [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const int peer = 1 - comm.rank();
    comm.exchange(
        {Transfer::send_to(peer, phantom(400)), Transfer::receive_from(peer, phantom(comm.rank() == 0 ? 400 : 800))});
  };
  EXPECT_THAT(failure<Error>(flat(2), 2, differing),
              AllOf(HasSubstr("rank 0 sends 400"), HasSubstr("rank 1 receives 800")));
  const auto collective = [](RankRuntime& runtime) {
    all_reduce_of(400 * (1 + runtime.lane(0).comm->rank()))(runtime);
  };
  EXPECT_THAT(failure<Error>(flat(2, "fidelity=fluid"), 2, collective), AllOf(HasSubstr("400"), HasSubstr("800")));
}

TEST(Errors, OfACrashNameTheSignal) {
  EXPECT_THAT(failure<BackendError>(flat(2), 2, [](RankRuntime&) { std::raise(SIGTERM); }), HasSubstr("Terminated"));
}

TEST(Exchange, PassesManyMessagesThroughAWindowInOrder) {
  constexpr int messages = 100;
  const auto results = run_ranks<std::int64_t>(flat(3), 3, [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const int n = comm.size();
    std::vector<OwnedBuffer> memory;
    std::vector<Transfer> transfers;
    for (int peer = 0; peer < n; ++peer) {
      for (std::int64_t i = 0; i < messages; ++i) {
        memory.push_back(on_device<std::int64_t>(comm.device(), {comm.rank() * 1000 + i}));
        transfers.push_back(Transfer::send_to(peer, memory.back()));
      }
    }
    const std::size_t first = memory.size();
    for (int peer = 0; peer < n; ++peer) {
      for (int i = 0; i < messages; ++i) {
        memory.push_back(on_device<std::int64_t>(comm.device(), {-1}));
        transfers.push_back(Transfer::receive_from(peer, memory.back()));
      }
    }
    comm.exchange(transfers);
    std::vector<std::int64_t> got;
    for (std::size_t i = first; i < memory.size(); ++i)
      got.push_back(on_host<std::int64_t>(comm.device(), memory[i]).front());
    return got;
  });
  std::vector<std::int64_t> expected;
  for (int peer = 0; peer < 3; ++peer) {
    for (int i = 0; i < messages; ++i) expected.push_back(peer * 1000 + i);
  }
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST(Exchange, ToOneselfCostsNoTime) {
  const auto self = [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    comm.exchange(
        {Transfer::send_to(comm.rank(), phantom(1'000'000)), Transfer::receive_from(comm.rank(), phantom(1'000'000))});
  };
  EXPECT_EQ(duration(flat(2), 2, self), 0);
}

}  // namespace
}  // namespace trigram::testing
