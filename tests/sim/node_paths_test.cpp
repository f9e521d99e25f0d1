// Several unequal paths a node: closed forms of both ways to spread messages, and what two shaped paths gave when
// measured.
#include <gmock/gmock.h>

#include "tests/sim/rig.hpp"

namespace trigram::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t gigabyte = 1'000'000'000;
constexpr double bytes_per_gigabit = 125e6;
constexpr double tolerance = 1e-5;  // latency

std::string cluster_of(const std::string& more) { return "sim:nodes=2,gpus_per_node=1,nic_latency=1us," + more; }

double seconds_of_gigabyte(const std::string& more) {
  return duration(cluster_of(more), 2, last_to_first_of(gigabyte));
}

/// Gbit/s that a gigabyte from one node to the other has.
double rate(const std::string& more) {
  return static_cast<double>(gigabyte) / bytes_per_gigabit / seconds_of_gigabyte(more);
}

class NodePathsOf : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Fidelities, NodePathsOf, ::testing::Values(",fidelity=exact", ",fidelity=fluid"),
                         [](const auto& fidelity) { return fidelity.param.substr(10); });

TEST_P(NodePathsOf, AQueueHasTheSumOfThem) {
  expect_relative(rate("nics=10Gbps 1Gbps" + GetParam()), 11, tolerance);
  expect_relative(rate("nics=(4Gbps,2Gbps,1Gbps),nic_striping=queue" + GetParam()), 7, tolerance);
}

TEST_P(NodePathsOf, EqualSharesHaveTheSlowestOfThemEach) {
  expect_relative(rate("nics=10Gbps 1Gbps,nic_striping=equal" + GetParam()), 2, tolerance);
  expect_relative(rate("nics=4Gbps 2Gbps 1Gbps,nic_striping=equal" + GetParam()), 3, tolerance);
}

TEST_P(NodePathsOf, EqualPathsAreSpreadAlike) {
  for (const char* striping : {"queue", "equal"})
    expect_relative(rate(std::string("nics=5Gbps 5Gbps,nic_striping=") + striping + GetParam()), 10, tolerance);
}

TEST(NodePaths, EachIsAsEfficientAsANicAndHasItsCap) {
  expect_relative(rate("nics=10Gbps 1Gbps,nic_efficiency=0.8"), 8.8, tolerance);
  expect_relative(rate("nics=10Gbps 1Gbps,nic_cap=4Gbps"), 5, tolerance);
}

TEST(NodePaths, OneIsANic) {
  EXPECT_EQ(seconds_of_gigabyte("nics=10Gbps"), seconds_of_gigabyte("nic_bandwidth=10Gbps"));
}

// Two network namespaces, paths shaped to 200 and 600 Mbit/s: alone they gave 191.6 and 574.1, in equal shares 383 and
// by one queue from 760 to 764.
TEST(NodePaths, AreAsMeasuredWithinATenth) {
  expect_relative(1e3 * rate("nics=191.6Mbps 574.1Mbps"), 762, 0.1);
  expect_relative(1e3 * rate("nics=191.6Mbps 574.1Mbps,nic_striping=equal"), 383, 0.1);
}

std::string refusal_of(const std::string& more) {
  try {
    Backends::make(cluster_of(more));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(NodePaths, AreRefusedWhereTheyCannotBe) {
  EXPECT_THAT(refusal_of("nic_striping=equal"), HasSubstr("'nic_striping' cannot influence one path"));
  EXPECT_THAT(refusal_of("nics=1Gbps 2Gbps,nic_striping=odd"),
              HasSubstr("'nic_striping' is queue or equal, not 'odd'"));
  EXPECT_THAT(refusal_of("nics=1Gbps 2"), HasSubstr("'nics': '2' is no quantity here"));
  EXPECT_THAT(refusal_of("nics=1Gbps 0"), HasSubstr("'nics': 0 bytes/s let no time pass"));
}

}  // namespace
}  // namespace trigram::testing
