// A run whose members are there as a trace of a cloud says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Availability : public Simulating {
 protected:
  /// Steps of VGG16's clock, 150 ms each at least.
  Ended run(const std::string& rows, const std::string& more = "") {
    std::ofstream(scratch / "trace.csv") << rows;
    return program(
        "run --algorithm diloco --profile vgg16 --cluster two_by_four:nodes=8,gpus_per_node=1 --ranks 4 --steps 60 "
        "--membership availability:file=" +
        (scratch / "trace.csv").string() + more + " --out " + (scratch / "a").string());
  }
  std::vector<int> counted(const char* column) const {
    std::vector<int> all;
    const auto run = nlohmann::json::parse(text_of(scratch / "a/run.json"));
    for (const auto& epoch : run["membership"]["epochs"]) all.push_back(epoch[column]);
    return all;
  }
};

TEST_F(Availability, IsThatOfItsTrace) {
  const Ended ended = run("seconds,members\n# so many at first\n0,4\n2,2\n5,6\n");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(counted("ranks"), ElementsAre(4, 2, 6));
  EXPECT_THAT(counted("lost"), ElementsAre(0, 2, 0));
  EXPECT_THAT(counted("joined"), ElementsAre(0, 0, 4));
}

TEST_F(Availability, MayBeToldBeforeItEnds) {
  const Ended ended = run("0,4\n2,3\n", ",warning=30s");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(counted("left"), ElementsAre(0, 1));
}

TEST_F(Availability, ThatIsNoneIsRefusedByItsLine) {
  EXPECT_THAT(run("0,4\nsoon,3\n").text, HasSubstr("trace.csv:2: 'soon,3' is no row of seconds,members"));
  EXPECT_THAT(run("0,4\n3,3\n2,4\n").text, HasSubstr("trace.csv:3: its time comes before that of the row above"));
  EXPECT_THAT(run("0,8\n").text, HasSubstr("there are 8 members at first, and the run has 4 ranks; give --ranks 8"));
}

}  // namespace
}  // namespace trigram
