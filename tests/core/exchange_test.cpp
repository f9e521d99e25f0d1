// The one primitive on every backend: order, many messages, split, errors, repeated runs.
#include <gmock/gmock.h>

#include "tests/core/conformance.hpp"

namespace trigram::testing {
namespace {

using ::testing::HasSubstr;

class Exchange : public OnEveryPlace {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Exchange, every_place(), place_name);

using Longs = std::vector<std::int64_t>;

TEST_P(Exchange, MessagesOfAPairKeepTheirOrder) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    Longs all;
    if (comm.size() == 1) return all;
    for (int round = 0; round < 20; ++round) {
      const OwnedBuffer out = on_device<std::int64_t>(comm.device(), {10 * round, 10 * round + 1});
      const OwnedBuffer in = comm.device().allocate(Shape::of(2, DType::i64));
      // Two messages of one pair in one exchange, in the order given.
      comm.exchange({Transfer::send_to(next, out.view().slice(0, 1)), Transfer::send_to(next, out.view().slice(1, 1)),
                     Transfer::receive_from(previous, in.view().slice(0, 1)),
                     Transfer::receive_from(previous, in.view().slice(1, 1))});
      const Longs values = on_host<std::int64_t>(comm.device(), in);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  });
  Longs expected;
  for (int round = 0; ranks() > 1 && round < 20; ++round) expected.insert(expected.end(), {10 * round, 10 * round + 1});
  for (const Longs& result : results) EXPECT_EQ(result, expected);
}

TEST_P(Exchange, ManyMessagesWithEveryPeerAtOnce) {
  constexpr int messages = 40;
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const int n = comm.size();
    const OwnedBuffer in = comm.device().allocate(Shape::of(n * messages, DType::i64));
    Longs values;
    for (int peer = 0; peer < n; ++peer) {
      for (int m = 0; m < messages; ++m) values.push_back(10000 * comm.rank() + 100 * peer + m);
    }
    const OwnedBuffer out = on_device(comm.device(), values);
    std::vector<Transfer> transfers;
    for (int distance = 1; distance < n; ++distance) {
      const int to = (comm.rank() + distance) % n;
      const int from = (comm.rank() + n - distance) % n;
      for (int m = 0; m < messages; ++m) {
        transfers.push_back(Transfer::send_to(to, out.view().slice(to * messages + m, 1)));
        transfers.push_back(Transfer::receive_from(from, in.view().slice(from * messages + m, 1)));
      }
    }
    if (n > 1) comm.exchange(transfers);
    return on_host<std::int64_t>(comm.device(), in);
  });
  for (int rank = 0; rank < ranks(); ++rank) {
    Longs expected;
    for (int from = 0; from < ranks(); ++from) {
      for (int m = 0; m < messages; ++m) expected.push_back(from == rank ? 0 : 10000 * from + 100 * rank + m);
    }
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], expected);
  }
}

TEST_P(Exchange, SplitOrdersByKeyAndNests) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    comm.use_all_reduce(all_reduce_named("recursive_doubling"));
    const auto parity = comm.split(comm.rank() % 2, -comm.rank());
    const auto half = parity->split(parity->rank() < 2 ? 0 : 1, 0);
    Longs seen{parity->rank(), parity->size(), half->rank(), half->size()};
    for (Communicator* group : {parity.get(), half.get(), &comm}) {
      const OwnedBuffer sum = on_device<std::int64_t>(comm.device(), {std::int64_t{1} << comm.rank()});
      group->all_reduce(sum, ReduceOp::sum);
      seen.push_back(on_host<std::int64_t>(comm.device(), sum)[0]);
    }
    const AllReduce* const chosen = &all_reduce_named("recursive_doubling");
    seen.push_back(&parity->all_reduce_algorithm() == chosen && &half->all_reduce_algorithm() == chosen);
    return seen;
  });
  for (int rank = 0; rank < ranks(); ++rank) {
    std::vector<int> parity;  // descending, since keys are negative ranks
    for (int r = ranks() - 1; r >= 0; --r) {
      if (r % 2 == rank % 2) parity.push_back(r);
    }
    const auto place = static_cast<int>(std::find(parity.begin(), parity.end(), rank) - parity.begin());
    std::vector<int> half;
    for (int p = 0; p < static_cast<int>(parity.size()); ++p) {
      if ((p < 2) == (place < 2)) half.push_back(parity[static_cast<std::size_t>(p)]);
    }
    const auto bits = [](const std::vector<int>& members) {
      std::int64_t sum = 0;
      for (const int member : members) sum += std::int64_t{1} << member;
      return sum;
    };
    const Longs expected{place,
                         static_cast<std::int64_t>(parity.size()),
                         place < 2 ? place : place - 2,
                         static_cast<std::int64_t>(half.size()),
                         bits(parity),
                         bits(half),
                         (std::int64_t{1} << ranks()) - 1,
                         1};
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], expected);
  }
}

TEST_P(Exchange, PeersOutOfRangeAreTheCallersError) {
  try {
    run<std::int64_t>([](RankRuntime& runtime) {
      Communicator& comm = *runtime.lane(0).comm;
      comm.exchange({Transfer::send_to(comm.size(), Buffer(nullptr, Shape::of(0, DType::u8)))});
      return Longs{};
    });
    FAIL() << "a peer out of range was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(ranks())));
  }
}

TEST_P(Exchange, AFailingRankReleasesTheOthersAndKeepsItsTypeAndText) {
  const int failing = ranks() / 2;
  try {
    run<std::int64_t>([&](RankRuntime& runtime) {
      Communicator& comm = *runtime.lane(0).comm;
      if (comm.rank() == failing) throw UsageError("the flux of rank " + std::to_string(failing) + " is 7");
      comm.barrier();
      comm.barrier();
      return Longs{};
    });
    FAIL() << "no error arrived";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), ("the flux of rank " + std::to_string(failing) + " is 7").c_str());
  }
}

TEST_P(Exchange, ARunCanBeRepeatedAfterSuccessAndFailure) {
  const auto place = Backends::make(backend());
  World world;
  world.ranks = ranks();
  const auto body = [](RankRuntime& runtime) {
    runtime.lane(0).comm->barrier();
    return std::vector<std::byte>{static_cast<std::byte>(runtime.lane(0).comm->rank())};
  };
  const auto fail = [](RankRuntime&) -> std::vector<std::byte> { throw BackendError("the cable is cut"); };
  for (int again = 0; again < 2; ++again) {
    const Outcome outcome = place->run(world, body);
    for (int rank = 0; rank < ranks(); ++rank) {
      EXPECT_EQ(outcome.results[static_cast<std::size_t>(rank)], std::vector<std::byte>{static_cast<std::byte>(rank)});
    }
    EXPECT_THROW(place->run(world, fail), BackendError);
  }
}

TEST_P(Exchange, AnUnknownAllReduceIsRefused) {
  World world;
  world.ranks = ranks();
  world.all_reduce = "rign";
  const auto body = [](RankRuntime& runtime) {
    const OwnedBuffer x = runtime.lane(0).device->allocate(Shape::of(4, DType::f32));
    runtime.lane(0).comm->all_reduce(x, ReduceOp::sum);
    return std::vector<std::byte>{};
  };
  EXPECT_THROW(Backends::make(backend())->run(world, body), UsageError);
}

TEST_P(Exchange, IdenticalBitsOnEveryBackend) {
  const auto body = [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    std::vector<float> values;
    const Philox philox(Key{.seed = 11, .rank = comm.rank()});
    for (std::uint64_t i = 0; i < 2003; ++i) values.push_back(philox.uniform(i) - 0.5F);
    const OwnedBuffer x = on_device(comm.device(), values);
    comm.all_reduce(x, ReduceOp::mean);
    return on_host<float>(comm.device(), x);
  };
  EXPECT_EQ(run<float>(body), run_ranks<float>("threads", ranks(), body));
}

}  // namespace
}  // namespace trigram::testing
