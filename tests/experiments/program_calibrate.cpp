// Calibrating a simulated cluster gives back its numbers; lines through points are those of plain algebra.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/values/error.hpp"
#include "core/values/units.hpp"
#include "experiments/measure/alpha_beta.hpp"
#include "experiments/measure/median.hpp"
#include "experiments/measure/probes/network_probe.hpp"
#include "experiments/settings/settings.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;

struct Quantity {
  const char* key;
  const char* value;
  Unit unit;
};

class Calibrated : public ::testing::Test {
 protected:
  Settings calibrate(const std::string& cluster) {
    const Ended ended = program("calibrate --rounds 1 --cluster '" + cluster + "' --out " + file().string());
    EXPECT_EQ(ended.code, 0) << ended.text;
    return read_settings(file());
  }

  std::filesystem::path file() const { return scratch_ / "c.cfg"; }

  static void expect_within_a_percent(const Settings& found, const std::vector<Quantity>& expected) {
    for (const Quantity& quantity : expected) {
      ASSERT_TRUE(found.contains(quantity.key)) << quantity.key;
      const double wanted = parse_quantity(quantity.value, quantity.unit);
      EXPECT_NEAR(parse_quantity(found.at(quantity.key), quantity.unit), wanted, 0.01 * wanted) << quantity.key;
    }
  }

  Scratch scratch_;
};

TEST_F(Calibrated, ASharedNicAndItsNode) {
  const Settings found = calibrate(
      "two_by_four:nodes=3,gpus_per_node=2,nic_bandwidth=13Gbps,nic_latency=37us,node_bandwidth=80GB/"
      "s,node_latency=4us,"
      "gpu_flops=9TFLOPS,gpu_memory_bandwidth=700GB/s,kernel_launch=6us");
  EXPECT_EQ(found.at("nodes"), "3");
  EXPECT_EQ(found.at("gpus_per_node"), "2");
  EXPECT_EQ(found.at("nic"), "node");
  expect_within_a_percent(found, {{"nic_bandwidth", "13Gbps", Unit::bytes_per_second},
                                  {"nic_latency", "37us", Unit::seconds},
                                  {"node_bandwidth", "80GB/s", Unit::bytes_per_second},
                                  {"node_latency", "4us", Unit::seconds},
                                  {"gpu_flops", "9TFLOPS", Unit::flops},
                                  {"gpu_memory_bandwidth", "700GB/s", Unit::bytes_per_second},
                                  {"kernel_launch", "6us", Unit::seconds}});
}

TEST_F(Calibrated, WhatCollectivesTakeFromKernels) {
  for (const char* fidelity : {"exact", "fluid"}) {
    const Settings found = calibrate(std::string("two_by_four:compute_slowdown=1.37,fidelity=") + fidelity);
    ASSERT_TRUE(found.contains("compute_slowdown")) << fidelity;
    EXPECT_NEAR(std::stod(found.at("compute_slowdown")), 1.37, 0.0137) << fidelity;
    EXPECT_THAT(text_of(file()), HasSubstr("# An empty message took 10us on an idle link and 10us beside long ones"));
  }
  EXPECT_FALSE(calibrate("two_by_four").contains("compute_slowdown"));
  EXPECT_THAT(text_of(file()), HasSubstr("took 1 times as long as alone, beside encoding 2 times"));
}

TEST_F(Calibrated, SaysWhatOneRankAndOneNodeCannotShow) {
  EXPECT_FALSE(calibrate("two_by_four:nodes=1,gpus_per_node=1").contains("compute_slowdown"));
  EXPECT_THAT(text_of(file()), HasSubstr("# Not identified: compute_slowdown, since one rank has nobody"));
  EXPECT_THAT(text_of(file()), HasSubstr("# Not identified: messages on a busy link, since all ranks are on one node"));
}

TEST_F(Calibrated, ANicForEachGpu) {
  const Settings found = calibrate("dgx_h100:nodes=2,gpus_per_node=4");
  EXPECT_EQ(found.at("nic"), "gpu");
  expect_within_a_percent(found, {{"nic_bandwidth", "380Gbps", Unit::bytes_per_second},  // 400 Gbps, 95 % of it usable
                                  {"nic_latency", "5us", Unit::seconds},
                                  {"gpu_flops", "67TFLOPS", Unit::flops}});
}

TEST_F(Calibrated, AHandshakeOfLargeMessages) {
  const Settings found =
      calibrate("two_by_four:gpus_per_node=1,nic_latency=50us,nic_handshake=300us,handshake_size=128KiB");
  expect_within_a_percent(found, {{"nic_bandwidth", "25Gbps", Unit::bytes_per_second},
                                  {"nic_latency", "50us", Unit::seconds},
                                  {"nic_handshake", "300us", Unit::seconds}});
  const double size = parse_quantity(found.at("handshake_size"), Unit::bytes);
  EXPECT_GT(size, 96 * 1024);  // the sizes on both sides that were measured
  EXPECT_LT(size, 192 * 1024);
}

TEST_F(Calibrated, NoHandshakeWhereThereIsNone) {
  EXPECT_FALSE(calibrate("bagua_v100:nodes=2").contains("nic_handshake"));
}

// Two of eight messages pass a window of 50 kB without waiting; the handshake is found beside it.
TEST_F(Calibrated, AWindowOfOneConnection) {
  const std::string cluster =
      "two_by_four:nodes=4,gpus_per_node=1,nic_bandwidth=100Mbps,nic_latency=10ms,nic_window=50kB";
  const std::vector<Quantity> expected = {{"nic_latency", "10ms", Unit::seconds}, {"nic_window", "50kB", Unit::bytes}};
  expect_within_a_percent(calibrate(cluster), expected);
  expect_within_a_percent(read_settings(file()), {{"nic_bandwidth", "100Mbps", Unit::bytes_per_second}});
  EXPECT_THAT(text_of(file()), HasSubstr("# Not identified: connection_cap and connections, since"));
  const Settings found = calibrate(cluster + ",nic_handshake=20ms,handshake_size=128KiB");
  expect_within_a_percent(found, expected);
  expect_within_a_percent(found, {{"nic_handshake", "20ms", Unit::seconds}});
  EXPECT_NEAR(parse_quantity(found.at("nic_bandwidth"), Unit::bytes_per_second), 12.5e6, 0.3e6)
      << "most of what messages take is waiting";
}

// Up to 64 KiB a connection has the whole message and waits for its own window; beyond, four have a part each.
TEST_F(Calibrated, ConnectionsOverWhichLongMessagesAreSpread) {
  const std::string cluster =
      "two_by_four:nodes=4,gpus_per_node=1,nic_bandwidth=100Mbps,nic_latency=10ms,nic_window=40kB,"
      "nic_handshake=20ms,handshake_size=64KiB,connections=4,eager_size=64KiB";
  const Settings found = calibrate(cluster);
  EXPECT_EQ(found.at("connections"), "4");
  EXPECT_EQ(found.at("eager_size"), found.at("handshake_size"));
  expect_within_a_percent(found, {{"nic_bandwidth", "100Mbps", Unit::bytes_per_second},
                                  {"nic_latency", "10ms", Unit::seconds},
                                  {"nic_window", "40kB", Unit::bytes},
                                  {"nic_handshake", "20ms", Unit::seconds}});
  EXPECT_THAT(text_of(file()), HasSubstr("# Not identified: connection_cap, since"));
}

// The faster one carries all of two chunks, and the other one of five.
TEST_F(Calibrated, TwoPathsThatDrawChunks) {
  const Settings found =
      calibrate("two_by_four:nodes=4,gpus_per_node=1,nics=100Mbps 25Mbps,nic_chunk=16KiB,nic_latency=200us");
  EXPECT_FALSE(found.contains("nic_bandwidth"));
  const std::string& nics = found.at("nics");
  const auto rate = [](const std::string& text) { return parse_quantity(text, Unit::bytes_per_second); };
  EXPECT_NEAR(rate(nics.substr(0, nics.find(' '))), 12.5e6, 0.125e6) << nics;
  EXPECT_NEAR(rate(nics.substr(nics.find(' ') + 1)), 3.125e6, 0.04e6) << nics;
  expect_within_a_percent(found, {{"nic_chunk", "16KiB", Unit::bytes}, {"nic_latency", "200us", Unit::seconds}});
}

TEST_F(Calibrated, NoPathsThatShareEveryByte) {
  EXPECT_FALSE(calibrate("two_by_four:gpus_per_node=1,nics=100Mbps 25Mbps").contains("nics"));
}

// What a pair sends finds a full bucket, whose bytes leave at line rate; where all send at once, a way earns less.
TEST_F(Calibrated, AShaperThatLetsBurstsThrough) {
  const Ended ended = program(
      "calibrate --rounds 1 --min-size 1KiB --max-size 1MiB --cluster 'two_by_four:nodes=4,gpus_per_node=1,"
      "nic_bandwidth=500Mbps,nic_latency=200us,nic_burst=15kB,nic_line_rate=4Gbps' --out " +
      file().string());
  ASSERT_EQ(ended.code, 0) << ended.text;
  const Settings found = read_settings(file());
  for (const auto& [key, value, unit] :
       {Quantity{"nic_bandwidth", "500Mbps", Unit::bytes_per_second}, Quantity{"nic_latency", "200us", Unit::seconds},
        Quantity{"nic_burst", "15kB", Unit::bytes}, Quantity{"nic_line_rate", "4Gbps", Unit::bytes_per_second}}) {
    ASSERT_TRUE(found.contains(key)) << key;
    const double wanted = parse_quantity(value, unit);
    EXPECT_NEAR(parse_quantity(found.at(key), unit), wanted, 0.05 * wanted) << key;
  }
}

TEST_F(Calibrated, NoWindowThatIsNeverFull) {
  EXPECT_FALSE(calibrate("two_by_four:gpus_per_node=2,nic_window=16MiB").contains("nic_window"));
}

TEST(NetworkPatterns, OfMoreThanTwoNodesNoneSendsBackToItsSender) {
  for (const int nodes : {2, 3, 4, 5, 8, 9}) {
    std::vector<int> node_of_rank;
    for (int rank = 0; rank < 2 * nodes; ++rank) node_of_rank.push_back(rank / 2);
    for (const Pattern& pattern : network_patterns(node_of_rank)) {
      if (!pattern.between_nodes() || pattern.answers()) continue;
      const Pattern::Messages& messages = pattern.turns.front();
      for (const auto& [from, to] : messages) {
        EXPECT_NE(from / 2, to / 2) << nodes;
        EXPECT_EQ(std::ranges::count(messages, std::pair(to, from)), nodes == 2 ? 1 : 0) << nodes;
      }
    }
  }
}

TEST_F(Calibrated, ConnectionsThatDoNotFillASharedNic) {
  const Settings found =
      calibrate("two_by_four:gpus_per_node=8,nic_bandwidth=25Gbps,nic_latency=20us,connection_cap=5Gbps");
  EXPECT_EQ(found.at("nic"), "node");
  expect_within_a_percent(found, {{"nic_bandwidth", "25Gbps", Unit::bytes_per_second},
                                  {"connection_cap", "5Gbps", Unit::bytes_per_second},
                                  {"nic_latency", "20us", Unit::seconds}});
  // What keeps 5 Gbps in flight for a round trip of 40 us.
  EXPECT_THAT(text_of(file()), HasSubstr("a nic_window of 25kB would do the same as this cap"));
}

TEST_F(Calibrated, WhatAMessageCostsItsHost) {
  const Settings found = calibrate("two_by_four:gpus_per_node=2,nic_latency=30us,message_overhead=4us");
  expect_within_a_percent(found, {{"nic_latency", "30us", Unit::seconds}, {"message_overhead", "4us", Unit::seconds}});
  EXPECT_FALSE(calibrate("two_by_four").contains("message_overhead"));
}

TEST_F(Calibrated, SaysWhatItCouldNotIdentify) {
  calibrate("two_by_four:gpus_per_node=1");
  EXPECT_THAT(text_of(file()), HasSubstr("# Not identified: connection_cap, nic_window and connections"));
  calibrate("two_by_four:nic=gpu");
  EXPECT_THAT(text_of(file()), HasSubstr("# Not identified: whether ranks of a node have a NIC each"));
}

TEST_F(Calibrated, SpeedsOfCodecs) {
  const Settings found = calibrate(
      "two_by_four:gpus_per_node=1,kernel_launch=7us,"
      "codec_rates=(top_k/encode/80us/12ns top_k/decode_add/40us/1.5ns)");
  EXPECT_THAT(found.at("codec_rates"), ::testing::AllOf(HasSubstr("top_k/encode/80us/12ns/1..4194304"),
                                                        HasSubstr("top_k/decode_add/40us/1.5ns/1..4194304")));
  EXPECT_THAT(found.at("codec_rates"), HasSubstr("one_bit/encode/7us/")) << "the others cost what their bytes do";
}

TEST_F(Calibrated, OnlyTheCodecsThatAreNamed) {
  const auto rates = [&](const std::string& names) {
    program("calibrate --rounds 1 --cluster two_by_four --codecs '" + names + "' --out " + file().string());
    return read_settings(file());
  };
  EXPECT_THAT(rates("one_bit").at("codec_rates"), ::testing::Not(HasSubstr("top_k")));
  EXPECT_FALSE(rates("").contains("codec_rates"));
  EXPECT_THAT(program("calibrate --codecs on_bit").text, HasSubstr("unknown codec 'on_bit' (did you mean 'one_bit'?)"));
}

TEST_F(Calibrated, NodesOfDifferentSizes) {
  EXPECT_EQ(calibrate("two_by_four:gpus_per_node=(1 3)").at("gpus_per_node"), "1 3");
}

TEST_F(Calibrated, LinksThatAreNotThereAreLeftOut) {
  EXPECT_FALSE(calibrate("two_by_four:nodes=1").contains("nic_bandwidth"));
  EXPECT_FALSE(calibrate("two_by_four:gpus_per_node=1").contains("node_bandwidth"));
}

TEST_F(Calibrated, AFileThatASimulationTakes) {
  calibrate("two_by_four");
  const Ended ended = program("run --workload quadratic --steps 2 --cluster " + file().string() + " --out " +
                              (scratch_ / "run").string());
  EXPECT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, ::testing::Not(HasSubstr("no influence")));
}

TEST(Line, ThroughPointsOnALineIsThatLine) {
  const std::vector<TimedAmount> points = {{0, 3}, {10, 8}, {100, 53}};
  const AlphaBeta line = fit_alpha_beta(points);
  EXPECT_NEAR(line.alpha, 3, 1e-12);
  EXPECT_NEAR(line.beta, 0.5, 1e-12);
  EXPECT_NEAR(line.residual({10, 4}), 1, 1e-12);
}

// With t = (1, 1, 4) at x = (0, 1, 2): u = (1, 1, 1/4), v = (0, 1, 1/2); Σu² = 33/16, Σuv = 9/8, Σv² = 5/4, Σu = 9/4,
// Σv = 3/2; the determinant is 84/64, so alpha = 6/7 and beta = 3/7.
TEST(Line, HasTheLeastRelativeResiduals) {
  const AlphaBeta line = fit_alpha_beta(std::vector<TimedAmount>{{0, 1}, {1, 1}, {2, 4}});
  EXPECT_NEAR(line.alpha, 6.0 / 7, 1e-12);
  EXPECT_NEAR(line.beta, 3.0 / 7, 1e-12);
}

TEST(Line, NeverBeginsBelowZero) {
  const AlphaBeta line = fit_alpha_beta(std::vector<TimedAmount>{{1, 1}, {2, 3}});
  EXPECT_EQ(line.alpha, 0);
  EXPECT_NEAR(line.beta, (1 + 2.0 / 3) / (1 + 4.0 / 9), 1e-12);
}

TEST(Line, NeedsTwoAmountsAndTimesAboveZero) {
  EXPECT_THROW(fit_alpha_beta(std::vector<TimedAmount>{{5, 1}, {5, 2}}), Error);
  EXPECT_THROW(fit_alpha_beta(std::vector<TimedAmount>{{5, 0}, {6, 2}}), Error);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median(std::vector<double>{9, 1, 5}), 5);
  EXPECT_EQ(median(std::vector<double>{9, 1, 5, 6}), 5.5);
  EXPECT_THROW(median(std::vector<double>()), Error);
}

}  // namespace
}  // namespace trigram
