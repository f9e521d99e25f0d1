// How lanes are numbered, and which ranks are together on each.
#include "core/world/lane_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "core/world/lane_layout.hpp"

namespace trigram {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

TEST(LaneLayout, HasAMainLaneThoseOfBucketsAndOneForTheBackground) {
  const LaneLayout layout{2};
  EXPECT_EQ(layout.lanes(), 4);
  EXPECT_EQ(layout.name_of(0), "main lane");
  EXPECT_EQ(layout.name_of(layout.of_bucket(5)), "lane 2 (buckets 1, 3, ...)");
  EXPECT_EQ(layout.name_of(layout.background()), "background lane");
}

TEST(LaneLayout, HasANetworkLaneForEachWhereAHierarchyGoesByChunks) {
  const LaneLayout layout{2, 4};
  EXPECT_EQ(layout.lanes(), 8);
  EXPECT_EQ(layout.background(), 3);
  for (int lane = 0; lane <= layout.background(); ++lane) {
    EXPECT_EQ(layout.starter_of(lane), 0);
    EXPECT_EQ(layout.starter_of(layout.network_lane_of(lane)), lane);
  }
  EXPECT_EQ(layout.name_of(layout.network_lane_of(1)), "network lane of lane 1 (buckets 0, 2, ...)");
  layout.require_startable(7);
  EXPECT_THROW(layout.require_startable(8), Error);
}

TEST(LaneLayout, StartsNoBodyOnTheMainLaneOrBehindTheLast) {
  const LaneLayout layout{2};
  layout.require_startable(3);
  EXPECT_THAT([&] { layout.require_startable(0); },
              ThrowsMessage<Error>("there is no lane 0 to start on; there are lanes 1 to 3"));
  EXPECT_THAT([&] { layout.require_startable(4); },
              ThrowsMessage<Error>("there is no lane 4 to start on; there are lanes 1 to 3"));
}

// Ranks 0, 3 and 4 are on node 0: leaders stand in the order of nodes, where ranks do not.
TEST(LaneGroups, FollowTheNodesOfRanksThatTakeTurns) {
  const std::vector<RankPartition> partitions = lane_groups(RankMap(Mesh(5), {0, 1, 1, 0, 0}));
  ASSERT_EQ(partitions.size(), 3U);
  EXPECT_EQ(partitions[0].name, "all ranks");
  EXPECT_THAT(partitions[0].groups(), ElementsAre(ElementsAre(0, 1, 2, 3, 4)));
  EXPECT_EQ(partitions[1].name, "node");
  EXPECT_THAT(partitions[1].groups(), ElementsAre(ElementsAre(0, 3, 4), ElementsAre(1, 2)));
  EXPECT_EQ(partitions[2].name, "leaders");
  EXPECT_THAT(partitions[2].groups(), ElementsAre(ElementsAre(0, 1), ElementsAre(3, 2), ElementsAre(4)));
  EXPECT_THAT(partitions[2].group_of(2), ElementsAre(3, 2));
}

}  // namespace
}  // namespace trigram
