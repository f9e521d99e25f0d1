// Matchings of a ring that are drawn anew in each step.
#include <gtest/gtest.h>

#include "core/topologies/topology.hpp"

namespace trigram::testing::matcha_test {
namespace {

TEST(Matcha, MixesAsItsRingDoesOnAverage) {
  // E W = I − weight · budget · L. A draw varies by 0.22 at most, a mean of 4,000 by 0.0035.
  for (const int size : {2, 3, 4, 5, 8}) {
    const auto topology = make_topology("matcha:budget=0.25,weight=0.5", size);
    Topology::Row mean;
    for (std::int64_t step = 0; step < 4000; ++step) {
      for (const auto& [vertex, weight] : topology->row(0, step)) mean[vertex] += weight / 4000;
    }
    EXPECT_NEAR(mean[0], size == 2 ? 0.875 : 0.75, 0.02) << size;
    EXPECT_NEAR(mean[1], 0.125, 0.02) << size;
    EXPECT_NEAR(mean[size - 1], 0.125, 0.02) << size;
  }
}

TEST(Matcha, WithTheWholeBudgetIsTheRing) {
  for (const int size : {1, 3, 4, 7}) {
    const auto ring = make_topology("ring", size);
    const auto matcha = make_topology("matcha:budget=1,weight=0.3333333333333333", size);
    for (int vertex = 0; vertex < size; ++vertex) {
      const Topology::Row row = matcha->row(vertex, 0);
      for (const auto& [other, weight] : ring->row(vertex, 0)) EXPECT_NEAR(row.at(other), weight, 1e-12) << size;
    }
  }
}

TEST(Matcha, GivesAVertexOneEdgeOfAMatching) {
  // Where one matching is active, nobody has two neighbours: of 1,000 steps with two of them some have one alone.
  const auto topology = make_topology("matcha", 6);
  bool alone = false;
  for (std::int64_t step = 0; step < 1000 && !alone; ++step) {
    alone = true;
    for (int vertex = 0; vertex < 6; ++vertex) alone = alone && topology->receives_from(vertex, step).size() == 1;
  }
  EXPECT_TRUE(alone);
}

}  // namespace
}  // namespace trigram::testing::matcha_test
