// Every collective on every backend against plain arithmetic.
#include "core/lane/all_reduce.hpp"
#include "tests/core/conformance.hpp"

namespace trigram::testing {
namespace {

class Collectives : public OnEveryPlace {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Collectives, every_place(), place_name);

/// Appends all_reduce of every count and operation on values of one type.
template <class T>
std::vector<T> all_reductions(Communicator& comm) {
  std::vector<T> results;
  for (const std::int64_t count : counts) {
    for (const ReduceOp op : all_ops) {
      const OwnedBuffer x = on_device(comm.device(), numbers<T>(comm.rank(), count));
      comm.all_reduce(x, op);
      const std::vector<T> result = on_host<T>(comm.device(), x);
      results.insert(results.end(), result.begin(), result.end());
    }
  }
  return results;
}

template <class T>
std::vector<T> all_expected(int ranks) {
  std::vector<T> results;
  for (const std::int64_t count : counts) {
    for (const ReduceOp op : all_ops) {
      const std::vector<T> result = reduced<T>(ranks, count, op);
      results.insert(results.end(), result.begin(), result.end());
    }
  }
  return results;
}

template <class T>
void expect_all_reduce(const std::string& backend, int ranks) {
  for (const std::string& name : AllReduces::names()) {
    World world;
    world.ranks = ranks;
    world.all_reduce = name;
    const auto results =
        run_ranks<T>(backend, world, [](RankRuntime& runtime) { return all_reductions<T>(*runtime.lane(0).comm); });
    for (const auto& result : results) EXPECT_EQ(result, all_expected<T>(ranks)) << name;
  }
}

TEST_P(Collectives, AllReduceOfFloats) { expect_all_reduce<float>(backend(), ranks()); }
TEST_P(Collectives, AllReduceOfInts) { expect_all_reduce<std::int32_t>(backend(), ranks()); }
TEST_P(Collectives, AllReduceOfLongs) { expect_all_reduce<std::int64_t>(backend(), ranks()); }
TEST_P(Collectives, AllReduceOfBytes) { expect_all_reduce<std::uint8_t>(backend(), ranks()); }

TEST_P(Collectives, AllReduceOfARandomVectorGivesTheSameBitsOnEveryRank) {
  for (const std::string& name : AllReduces::names()) {
    World world;
    world.ranks = ranks();
    world.all_reduce = name;
    const auto results = run_ranks<float>(backend(), world, [](RankRuntime& runtime) {
      Communicator& comm = *runtime.lane(0).comm;
      std::vector<float> values;
      const Philox philox(Key{.rank = comm.rank()});
      for (std::uint64_t i = 0; i < 1001; ++i) values.push_back(philox.uniform(i) - 0.5F);
      const OwnedBuffer x = on_device(comm.device(), values);
      comm.all_reduce(x, ReduceOp::mean);
      return on_host<float>(comm.device(), x);
    });
    for (const auto& result : results) EXPECT_EQ(result, results[0]) << name;
  }
}

TEST_P(Collectives, RingAddsRanksInTheDocumentedOrder) {
  const auto values = [](int rank) {
    std::vector<float> x;
    const Philox philox(Key{.seed = 3, .rank = rank});
    for (std::uint64_t i = 0; i < 1001; ++i) x.push_back(philox.uniform(i) - 0.5F);
    return x;
  };
  const auto results = run<float>([&](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const OwnedBuffer x = on_device(comm.device(), values(comm.rank()));
    comm.all_reduce(x, ReduceOp::sum);
    return on_host<float>(comm.device(), x);
  });
  std::vector<float> expected;
  for (int chunk = 0; chunk < ranks(); ++chunk) {
    std::vector<float> sum = part_of(values((chunk + 1) % ranks()), ranks(), chunk);
    for (int k = 2; k <= ranks(); ++k) {
      const std::vector<float> next = part_of(values((chunk + k) % ranks()), ranks(), chunk);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next[i];
    }
    expected.insert(expected.end(), sum.begin(), sum.end());
  }
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST_P(Collectives, ReduceScatterLeavesEachRankItsChunk) {
  for (const std::int64_t count : counts) {
    const auto results = run<std::int32_t>([&](RankRuntime& runtime) {
      Communicator& comm = *runtime.lane(0).comm;
      const OwnedBuffer x = on_device(comm.device(), numbers<std::int32_t>(comm.rank(), count));
      comm.reduce_scatter(x, ReduceOp::sum);
      return on_host<std::int32_t>(comm.device(), x.view().chunk(comm.rank(), comm.size()));
    });
    const auto whole = reduced<std::int32_t>(ranks(), count, ReduceOp::sum);
    for (int r = 0; r < ranks(); ++r) EXPECT_EQ(results[static_cast<std::size_t>(r)], part_of(whole, ranks(), r));
  }
}

TEST_P(Collectives, ChunksOfLongVectorsAreAlignedInMemory) {
  constexpr std::int64_t alignment = 16;
  const std::int64_t count = long_and_odd(ranks());
  const auto results = run<std::int64_t>([&](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    std::vector<std::int64_t> misplaced;
    for (const DType dtype : {DType::f32, DType::f16, DType::u8}) {
      const OwnedBuffer x = comm.device().allocate(Shape::of(count, dtype));
      for (int chunk = 0; chunk < comm.size(); ++chunk)
        misplaced.push_back(reinterpret_cast<std::intptr_t>(x.view().chunk(chunk, comm.size()).raw()) % alignment);
    }
    return misplaced;
  });
  for (const auto& result : results) EXPECT_EQ(result, std::vector<std::int64_t>(result.size(), 0));
}

TEST_P(Collectives, LongVectorsOfOddSizesArriveWhole) {
  const std::int64_t count = long_and_odd(ranks());
  const auto results = run<std::int32_t>([&](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const OwnedBuffer parts = on_device(comm.device(), numbers<std::int32_t>(comm.rank(), count));
    comm.reduce_scatter(parts, ReduceOp::sum);
    comm.all_gather(parts);
    std::vector<std::int32_t> values = on_host<std::int32_t>(comm.device(), parts);
    for (const char* name : {"ring", "rabenseifner"}) {
      const OwnedBuffer x = on_device(comm.device(), numbers<std::int32_t>(comm.rank(), count));
      comm.use_all_reduce(all_reduce_named(name));
      comm.all_reduce(x, ReduceOp::sum);
      for (const std::int32_t value : on_host<std::int32_t>(comm.device(), x)) values.push_back(value);
    }
    return values;
  });
  const auto once = reduced<std::int32_t>(ranks(), count, ReduceOp::sum);
  std::vector<std::int32_t> expected;
  for (int way = 0; way < 3; ++way) expected.insert(expected.end(), once.begin(), once.end());
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST_P(Collectives, AllGatherBringsEveryChunk) {
  for (const std::int64_t count : counts) {
    const auto results = run<std::int64_t>([&](RankRuntime& runtime) {
      Communicator& comm = *runtime.lane(0).comm;
      const OwnedBuffer x = on_device(comm.device(), std::vector<std::int64_t>(static_cast<std::size_t>(count), -1));
      const Buffer own = x.view().chunk(comm.rank(), comm.size());
      comm.device().fill(own, comm.rank());
      comm.all_gather(x);
      return on_host<std::int64_t>(comm.device(), x);
    });
    std::vector<std::int64_t> expected;
    for (int r = 0; r < ranks(); ++r) {
      expected.insert(expected.end(), static_cast<std::size_t>(chunk_count(count, ranks(), r)), r);
    }
    for (const auto& result : results) EXPECT_EQ(result, expected);
  }
}

/// Sizes that differ by pair, some of them zero.
std::int64_t message_count(int from, int to) { return (from * 3 + to * 5) % 7; }

TEST_P(Collectives, AllGatherOfPartsOfAnySize) {
  const auto results = run<std::int32_t>([](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    std::vector<OwnedBuffer> memory;
    for (int r = 0; r < comm.size(); ++r) {
      memory.push_back(comm.device().allocate(Shape::of(message_count(r, r), DType::i32)));
    }
    comm.device().fill(memory[static_cast<std::size_t>(comm.rank())], comm.rank() + 1);
    const std::vector<Buffer> parts(memory.begin(), memory.end());
    comm.all_gather(parts);
    std::vector<std::int32_t> all;
    for (const Buffer& part : parts) {
      const auto values = on_host<std::int32_t>(comm.device(), part);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  });
  std::vector<std::int32_t> expected;
  for (int r = 0; r < ranks(); ++r)
    expected.insert(expected.end(), static_cast<std::size_t>(message_count(r, r)), r + 1);
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST_P(Collectives, AllToAllOfAnySize) {
  const auto results = run<std::int32_t>([](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    std::vector<OwnedBuffer> sent;
    std::vector<OwnedBuffer> received;
    for (int r = 0; r < comm.size(); ++r) {
      sent.push_back(comm.device().allocate(Shape::of(message_count(comm.rank(), r), DType::i32)));
      comm.device().fill(sent.back(), 100 * comm.rank() + r);
      received.push_back(comm.device().allocate(Shape::of(message_count(r, comm.rank()), DType::i32)));
    }
    const std::vector<Buffer> send(sent.begin(), sent.end());
    const std::vector<Buffer> receive(received.begin(), received.end());
    comm.all_to_all(send, receive);
    std::vector<std::int32_t> all;
    for (const Buffer& part : receive) {
      const auto values = on_host<std::int32_t>(comm.device(), part);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  });
  for (int to = 0; to < ranks(); ++to) {
    std::vector<std::int32_t> expected;
    for (int from = 0; from < ranks(); ++from) {
      expected.insert(expected.end(), static_cast<std::size_t>(message_count(from, to)), 100 * from + to);
    }
    EXPECT_EQ(results[static_cast<std::size_t>(to)], expected);
  }
}

TEST_P(Collectives, BroadcastAndReduceForEveryRoot) {
  for (const std::int64_t count : counts) {
    const auto results = run<std::int32_t>([&](RankRuntime& runtime) {
      Communicator& comm = *runtime.lane(0).comm;
      std::vector<std::int32_t> all;
      for (int root = 0; root < comm.size(); ++root) {
        const OwnedBuffer x = on_device(comm.device(), numbers<std::int32_t>(comm.rank(), count));
        comm.reduce(x, ReduceOp::mean, root);
        comm.broadcast(x, root);
        const auto values = on_host<std::int32_t>(comm.device(), x);
        all.insert(all.end(), values.begin(), values.end());
      }
      return all;
    });
    std::vector<std::int32_t> expected;
    const auto mean = reduced<std::int32_t>(ranks(), count, ReduceOp::mean);
    for (int root = 0; root < ranks(); ++root) expected.insert(expected.end(), mean.begin(), mean.end());
    for (const auto& result : results) EXPECT_EQ(result, expected);
  }
}

TEST_P(Collectives, ScatterThenGatherReturnsWhatRootHad) {
  const int root = ranks() - 1;
  const auto results = run<std::int32_t>([&](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const OwnedBuffer x = on_device(comm.device(), numbers<std::int32_t>(comm.rank(), 29));
    const OwnedBuffer back = comm.device().allocate(Shape::of(29, DType::i32));
    std::vector<Buffer> parts;
    std::vector<Buffer> returned;
    for (int r = 0; r < comm.size(); ++r) {
      parts.push_back(x.view().chunk(r, comm.size()));
      returned.push_back(back.view().chunk(r, comm.size()));
    }
    const OwnedBuffer part = comm.device().allocate(parts[static_cast<std::size_t>(comm.rank())].shape());
    const bool is_root = comm.rank() == root;
    comm.scatter(is_root ? std::span<const Buffer>(parts) : std::span<const Buffer>(), part, root);
    comm.gather(part, is_root ? std::span<const Buffer>(returned) : std::span<const Buffer>(), root);
    auto all = on_host<std::int32_t>(comm.device(), part);
    const auto gathered = on_host<std::int32_t>(comm.device(), back);
    if (is_root) all.insert(all.end(), gathered.begin(), gathered.end());
    return all;
  });
  const auto whole = numbers<std::int32_t>(root, 29);
  for (int r = 0; r < ranks(); ++r) {
    auto expected = part_of(whole, ranks(), r);
    if (r == root) expected.insert(expected.end(), whole.begin(), whole.end());
    EXPECT_EQ(results[static_cast<std::size_t>(r)], expected);
  }
}

TEST_P(Collectives, PhantomsGoThroughEverything) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Lane& lane = runtime.lane(0);
    const OwnedBuffer x = lane.device->allocate(Shape{0, DType::f32, 1'000'000'007, true});
    const OwnedBuffer y = lane.device->allocate(Shape{101, DType::f32, 1'000'003, true});
    for (const Buffer& phantom : {x.view(), y.view()}) {
      lane.comm->all_reduce(phantom, ReduceOp::mean);
      lane.comm->broadcast(phantom, 0);
    }
    return std::vector<std::int64_t>{lane.meter.total().bytes};
  });
  const std::int64_t bytes = 4 * std::int64_t{1'000'000'007 + 1'000'003};
  for (int r = 0; r < ranks(); ++r) {
    std::int64_t expected = broadcast_cost(ranks(), r, bytes, 0).bytes;
    for (const std::int64_t count : {1'000'000'007, 1'000'003}) {
      expected += (reduce_scatter_cost(ranks(), r, count, 4) + all_gather_cost(ranks(), r, count, 4)).bytes;
    }
    EXPECT_EQ(results[static_cast<std::size_t>(r)][0], expected);
  }
}

}  // namespace
}  // namespace trigram::testing
