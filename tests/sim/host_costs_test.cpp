// What hosts take for messages and calls, and what codecs take whose speed was measured.
#include "core/device/codec.hpp"
#include "tests/sim/rig.hpp"

namespace trigram::testing::host_costs_test {
namespace {

constexpr double tolerance = 1e-6;
constexpr double overhead = 50e-6;  ///< of a host

// 2(n−1)·(o + α + c·β)
TEST(Hosts, TakeTheirTimeForEachMessageOfARing) {
  const double round = overhead + alpha + 1.024e6 * beta;
  for (const char* more : {"message_overhead=50us", "message_overhead=50us,fidelity=fluid"})
    expect_relative(duration(flat(8, more), 8, all_reduce_of(8'192'000)), 14 * round, tolerance, more);
}

// A chunk that goes all the way meets a post in each round, and no host posts more than that; two trees of 16 ranks
// have hosts that post four halves, which is less than the way up and down.
TEST(Hosts, AreOnTheWayOfChunksThatFlow) {
  for (const char* more : {"message_overhead=50us", "message_overhead=50us,fidelity=fluid"}) {
    World world;
    world.ranks = 16;
    for (const auto& [name, hops] : {std::pair("pipelined_ring", 30), std::pair("double_binary_tree", 8)}) {
      world.all_reduce = name;
      const double seconds = durations(flat(16, more), world, {all_reduce_of(6400)}).front();
      EXPECT_NEAR(seconds, hops * (overhead + alpha), 2 * 6400 * beta) << name << " " << more;
    }
  }
}

// The rank at a node's border posts all 14 chunks, of which the longest way crosses four borders.
TEST(Hosts, OfManyChunksTakeLongerThanTheWay) {
  World world;
  world.ranks = 8;
  world.all_reduce = "pipelined_ring";
  const std::string cluster = "sim:nodes=2,gpus_per_node=4,nic_latency=5us,node_latency=2us,message_overhead=1ms";
  for (const char* fidelity : {",fidelity=exact", ",fidelity=fluid"})
    EXPECT_NEAR(durations(cluster + fidelity, world, {all_reduce_of(6400)}).front(), 14e-3, 1e-4) << fidelity;
}

// Posted together: α + max(o + (n−1)·m·β, (n−1)·o + m·β)
TEST(Hosts, PostMessagesOneAfterTheOther) {
  for (const double bytes : {1e4, 1e7}) {
    const auto all_to_all = [bytes](RankRuntime& runtime) {
      const std::vector<Buffer> parts(8, phantom(static_cast<std::int64_t>(bytes)));
      runtime.lane(0).comm->all_to_all(parts, parts);
    };
    const double expected = alpha + std::max(overhead + 7 * bytes * beta, 7 * overhead + bytes * beta);
    for (const char* more : {"message_overhead=50us", "message_overhead=50us,fidelity=fluid"})
      expect_relative(duration(flat(8, more), 8, all_to_all), expected, 1e-3, more);
  }
}

TEST(Hosts, TakeNoneForMessagesInsideANode) {
  const std::string node = "sim:nodes=1,gpus_per_node=8,node_bandwidth=100GB/s,node_latency=2us,message_overhead=1ms";
  expect_relative(duration(node, 8, all_reduce_of(81'920'000)), 14 * (2e-6 + 1.024e7 / 100e9), tolerance);
}

// Whatever a collective is made of, it is one call.
TEST(Hosts, AreCalledOnceForACollective) {
  for (const std::string more : {"", "fidelity=fluid"}) {
    for (const Operation& operation :
         {all_reduce_of(8'000'000), Operation([](RankRuntime& runtime) { runtime.lane(0).comm->barrier(); })}) {
      const double without = duration(flat(8, more), 8, operation);
      const double with = duration(flat(8, "call_overhead=50us" + (more.empty() ? "" : "," + more)), 8, operation);
      EXPECT_NEAR(with - without, overhead, 1e-9) << more;
    }
  }
  EXPECT_EQ(duration(flat(1, "call_overhead=50us"), 1, all_reduce_of(8'000'000)), 0);
}

/// Seconds of `work` with the codec on one rank, whose vectors have a million elements.
double with_codec(const std::string& more, const std::function<void(const Codec&, Device&, Buffer, Buffer)>& work) {
  return duration(flat(1, more), 1, [&](RankRuntime& runtime) {
    Device& device = *runtime.lane(0).device;
    const auto codec = device.make_codec("minmax_uint8");
    const Buffer vector = phantom(4'000'000);
    const OwnedBuffer frame = device.allocate(codec->encoded_shape(vector.shape()));
    work(*codec, device, vector, frame);
  });
}

// call + elements · element, instead of a launch and bytes over bandwidth
TEST(CodecRates, ReplaceTheRoofline) {
  const std::string rates = "kernel_launch=5us,codec_rates=minmax_uint8/encode/80us/2ns";
  const auto encode = [](const Codec& c, Device& d, Buffer x, Buffer f) { c.encode(d, x, f, {}); };
  const auto decode = [](const Codec& c, Device& d, Buffer x, Buffer f) { c.decode(d, f, x, {}); };
  expect_relative(with_codec(rates, encode), 80e-6 + 1e6 * 2e-9, tolerance);
  expect_relative(with_codec(rates, decode), with_codec("kernel_launch=5us", decode), tolerance);
}

// The parts of one kernel are one call.
TEST(CodecRates, ChargeOneCallForAFusedKernel) {
  const auto two = [](const Codec& codec, Device& device, Buffer x, Buffer frame) {
    device.fused(Activity::encode, "encode", [&] {
      codec.encode(device, x, frame, {});
      codec.encode(device, x, frame, {});
    });
  };
  expect_relative(with_codec("codec_rates=minmax_uint8/encode/80us/2ns", two), 80e-6 + 2e6 * 2e-9, tolerance);
}

TEST(CodecRates, NameWhatIsWrongWithThem) {
  const auto refusal = [](const std::string& rates) {
    return failure<UsageError>(flat(1, "codec_rates=" + rates), 1, [](RankRuntime&) {});
  };
  EXPECT_NE(refusal("minmax_uint8/encode/2ns").find("codec/step/call/element"), std::string::npos);
  EXPECT_NE(refusal("minmax_uint8/encod/0/2ns").find("did you mean 'encode'"), std::string::npos);
  EXPECT_NE(refusal("minmax_uint/encode/0/2ns").find("did you mean 'minmax_uint8'"), std::string::npos);
  EXPECT_NE(refusal("one_bit/encode/0/2ns one_bit/encode/0/1ns").find("already"), std::string::npos);
  EXPECT_NE(refusal("one_bit/encode/0/2ns/9..4").find("write LEAST..MOST, as 64..2359296"), std::string::npos);
  EXPECT_NE(refusal("one_bit/encode/0/2ns/9").find("'9' is no range of elements"), std::string::npos);
}

// A million elements are encoded: one model cannot say what they take where it had other sizes.
TEST(CodecRates, OfOneModelAreRefusedForTensorsOfOtherSizes) {
  const auto encode = [](const Codec& c, Device& d, Buffer x, Buffer f) { c.encode(d, x, f, {}); };
  expect_relative(with_codec("codec_rates=minmax_uint8/encode/0/2ns/64..1000000", encode), 1e6 * 2e-9, tolerance);
  try {
    with_codec("codec_rates=minmax_uint8/encode/0/2ns/64..999999", encode);
    FAIL() << "nothing was refused";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("measured on calls to encode of 64 to 999999 elements, and this run has "
                        "one of 1000000"),
              std::string::npos)
        << error.what();
  }
}

// Both parts are known: the line goes on, and the run says how far beyond its sizes.
TEST(CodecRates, WithBothPartsAreContinued) {
  const auto facts = [](const std::string& sizes) {
    return simulate(flat(1, "codec_rates=minmax_uint8/encode/80us/2ns/" + sizes), 1,
                    [](RankRuntime& runtime) {
                      Device& device = *runtime.lane(0).device;
                      const auto codec = device.make_codec("minmax_uint8");
                      const OwnedBuffer frame = device.allocate(codec->encoded_shape(phantom(4'000'000).shape()));
                      codec->encode(device, phantom(4'000'000), frame, {});
                      EXPECT_NEAR(runtime.now(), 80e-6 + 1e6 * 2e-9, 1e-9);
                    })
        .facts;
  };
  EXPECT_NE(facts("64..999999")
                .find("'codec_rates' of minmax_uint8/encode were measured on calls of 64 to 999999 elements; this run "
                      "has calls of 64 to 1000000, for which their line is continued"),
            std::string::npos);
  EXPECT_EQ(facts("64..1000000").find("codec_rates"), std::string::npos);
}

}  // namespace
}  // namespace trigram::testing::host_costs_test
