// A mesh as coordinates, what is refused of it, and the groups that follow from it.
#include "core/world/mesh.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "core/world/lane_groups.hpp"

namespace trigram {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Mesh, WithoutOneAllRanksAreReplicas) {
  const Mesh mesh = Mesh::parse("", 6);
  EXPECT_EQ(mesh.text(), "data=6");
  EXPECT_EQ(mesh.coordinate("data", 4), 4);
  EXPECT_FALSE(mesh.has("expert"));
}

// Rank = 6 d + 3 e + t.
TEST(Mesh, CountsRanksAlongTheLastAxisFirst) {
  const Mesh mesh = Mesh::parse("data=4,expert=2,tensor=3", 24);
  EXPECT_EQ(mesh.text(), "data=4,expert=2,tensor=3");
  EXPECT_EQ(mesh.ranks(), 24);
  const int rank = 6 * 2 + 3 * 1 + 2;
  EXPECT_EQ(mesh.coordinate("data", rank), 2);
  EXPECT_EQ(mesh.coordinate("expert", rank), 1);
  EXPECT_EQ(mesh.coordinate("tensor", rank), 2);
  EXPECT_EQ(mesh.first_of_line("data", rank), 3 * 1 + 2);
  EXPECT_EQ(mesh.at("expert", 0, rank), 6 * 2 + 2);
  EXPECT_THAT([] { Mesh(3).size("expert"); }, ThrowsMessage<Error>("mesh data=3 has no axis 'expert'"));
}

std::string refusal(const std::string& text, int ranks) {
  try {
    Mesh::parse(text, ranks);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Mesh, IsRefusedWithAllThatIsWrong) {
  EXPECT_EQ(refusal("data=4,expert=3", 8),
            "mesh 'data=4,expert=3': it has 12 places, but there are 8 ranks; name axes and their ranks, whose product "
            "is the number of all ranks, as data=8 or data=4,expert=2");
  EXPECT_THAT(
      refusal("batch=4,expert=0,expert=x", 8),
      HasSubstr("axis 'batch' is not one of data, expert, tensor; axis 'expert' has '0' ranks, not 1 to 8; axis "
                "'expert' is there twice; axis 'expert' has 'x' ranks, not 1 to 8; there is no axis data, along "
                "which ranks are replicas; name"));
  EXPECT_THAT(refusal("data=8,", 8), HasSubstr("axis '' is not one of"));
  EXPECT_THAT(refusal("data", 8), HasSubstr("axis 'data' has '' ranks"));
  EXPECT_THAT(refusal("data=4294967304", 8), HasSubstr("axis 'data' has '4294967304' ranks, not 1 to 8"));
  EXPECT_THAT(refusal("data=-8,tensor=-1", 8), HasSubstr("axis 'data' has '-8' ranks, not 1 to 8"));
}

// Eight ranks on nodes of 3, 3 and 2: line t = 0 is ranks 0 2 4 6, of which 0 2 share a node; line t = 1 is 1 3 5 7.
TEST(LaneGroups, LookAtNodesInsideOfDataLines) {
  const RankMap map(Mesh::parse("data=4,tensor=2", 8), {0, 0, 0, 1, 1, 1, 2, 2});
  EXPECT_THAT(map.nodes_of_group(6), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(map.nodes_of_group(1), ElementsAre(0, 1, 1, 2));
  EXPECT_EQ(map.nodes(3), 3);
  const std::vector<RankPartition> groups = lane_groups(map);
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].name, "axis data");
  EXPECT_THAT(groups[0].groups(), ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
  EXPECT_THAT(groups[1].groups(), ElementsAre(ElementsAre(0, 2), ElementsAre(1), ElementsAre(3, 5), ElementsAre(4),
                                              ElementsAre(6), ElementsAre(7)));
  EXPECT_THAT(groups[2].groups(),
              ElementsAre(ElementsAre(0, 4, 6), ElementsAre(1, 3, 7), ElementsAre(2), ElementsAre(5)));
  EXPECT_EQ(groups[3].name, "axis tensor");
  EXPECT_THAT(groups[3].groups(),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5), ElementsAre(6, 7)));
}

// A line on nodes 1 and 3 of four is on two nodes.
TEST(LaneGroups, NumberTheNodesOfALineAnew) {
  const RankMap map(Mesh::parse("data=2,expert=4", 8), {0, 1, 2, 3, 0, 3, 2, 3});
  EXPECT_THAT(map.nodes_of_group(1), ElementsAre(0, 1));
  EXPECT_THAT(map.nodes_of_group(3), ElementsAre(0, 0));
  EXPECT_EQ(map.nodes(3), 1);
}

}  // namespace
}  // namespace trigram
