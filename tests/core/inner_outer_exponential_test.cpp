// Inner-outer exponential against what BlueFog does, and against what topologies promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/conformance/topology_check.hpp"
#include "core/topologies/topology.hpp"
#include "core/values/error.hpp"

namespace trigram::testing::inner_outer_exponential_test {
namespace {

using ::testing::HasSubstr;

/// Whom each of `count` vertices sends its only message to.
std::vector<int> messages(const Topology& topology, int count, std::int64_t step) {
  std::vector<int> to;
  for (int vertex = 0; vertex < count; ++vertex) {
    const std::vector<int> peers = topology.sends_to(vertex, step);
    to.push_back(peers.size() == 1 ? peers.front() : -1);
  }
  return to;
}

// What BlueFog's own GetInnerOuterExpo2DynamicSendRecvRanks yields for 8 ranks of 2 machines and 15 of 3.
TEST(InnerOuterExponential, SendsWhereBlueFogDoes) {
  const std::vector<int> two = {0, 0, 0, 0, 1, 1, 1, 1}, three = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2};
  const auto of_two = make_topology("inner_outer_exponential", Vertices(two));
  const std::vector<int> published_of_two[] = {
      {4, 2, 3, 1, 0, 6, 7, 5}, {3, 5, 0, 2, 7, 1, 4, 6}, {1, 3, 6, 0, 5, 7, 2, 4}};
  for (int step = 0; step < 3; ++step) EXPECT_EQ(messages(*of_two, 8, step), published_of_two[step]) << step;
  const auto of_three = make_topology("inner_outer_exponential", Vertices(three));
  const std::vector<int> published_of_three[] = {{5, 2, 3, 4, 1, 10, 7, 8, 9, 6, 0, 12, 13, 14, 11},
                                                 {3, 11, 4, 0, 2, 8, 1, 9, 5, 7, 13, 6, 14, 10, 12},
                                                 {1, 3, 7, 4, 0, 6, 8, 12, 9, 5, 11, 13, 2, 14, 10},
                                                 {2, 4, 0, 13, 1, 7, 9, 5, 3, 6, 12, 14, 10, 8, 11}};
  for (int step = 0; step < 4; ++step) EXPECT_EQ(messages(*of_three, 15, step), published_of_three[step]) << step;
}

// What `trigram check` holds a topology to: sums of rows and columns, who hears whom, the period, and that all is
// reached.
TEST(InnerOuterExponential, HoldsWhatItDeclaresOnNodesOfOtherSizesToo) {
  const std::vector<std::vector<int>> placements = {
      {0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 0, 1, 2, 2, 2, 2}, {0, 0, 0, 1, 1, 1, 1, 1}, {0, 1, 2, 0, 1, 2, 0, 1, 2},
      {0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 0, 0, 1, 1, 1},       {0, 0}};
  for (const std::vector<int>& nodes : placements) {
    const TriedTopology tried = try_topology("inner_outer_exponential", Vertices(nodes));
    EXPECT_EQ(tried.refusal, "") << ::testing::PrintToString(nodes);
    for (const auto& violation : tried.violations)
      ADD_FAILURE() << ::testing::PrintToString(nodes) << ": " << violation.text;
  }
}

// A node sends one message out and gets one in a step, and of its vertices all take turns.
TEST(InnerOuterExponential, LeavesEachNodeOnceAStep) {
  std::vector<int> nodes;
  for (int vertex = 0; vertex < 32; ++vertex) nodes.push_back(vertex / 8);
  const auto topology = make_topology("inner_outer_exponential", Vertices(nodes));
  for (int step = 0; step < 8; ++step) {
    const std::vector<int> to = messages(*topology, 32, step);
    for (int vertex = 0; vertex < 32; ++vertex) {
      const int node = vertex / 8, other = to[static_cast<std::size_t>(vertex)] / 8;
      EXPECT_EQ(other, vertex % 8 == step ? (node + (step % 2 == 0 ? 1 : 2)) % 4 : node) << vertex << ", " << step;
    }
  }
}

TEST(InnerOuterExponential, IsOnePeerExponentialOnOneNodeAndOnNodesOfOne) {
  const auto known = make_topology("one_peer_exponential", 12);
  const std::vector<int> one_node(12, 0);
  for (const auto& topology :
       {make_topology("inner_outer_exponential", 12), make_topology("inner_outer_exponential", Vertices(one_node))}) {
    for (std::int64_t step = 0; step < 8; ++step) {
      for (int vertex = 0; vertex < 12; ++vertex) EXPECT_EQ(topology->row(vertex, step), known->row(vertex, step));
    }
  }
}

TEST(InnerOuterExponential, RefusesNodesOfTwoByName) {
  const std::vector<int> pairs = {0, 0, 1, 1};
  try {
    make_topology("inner_outer_exponential", Vertices(pairs));
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("of the 2 of node 0"));
    EXPECT_THAT(error.what(), HasSubstr("one_outside"));
  }
}

}  // namespace
}  // namespace trigram::testing::inner_outer_exponential_test
