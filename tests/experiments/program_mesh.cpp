// A mesh as people ask for it: what it is refused for, what its files say, and how it goes on from a checkpoint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class InAMesh : public Simulating {
 protected:
  Ended run(const std::string& flags, const std::string& out = "out") const {
    return program("run --workload quadratic:noise=0.5 --lr 0.01 --evaluate-every 3 --steps 6 --record all " + flags +
                   " --out " + path(out));
  }
};

TEST_F(InAMesh, WhatDoesNotFitIsRefusedBeforeAnythingIsWritten) {
  const Ended ended = run("--ranks 8 --mesh data=4,expert=3");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, StartsWith("trigram: mesh 'data=4,expert=3': it has 12 places, but there are 8 ranks; name"));
  EXPECT_FALSE(fs::exists(scratch / "out"));
}

/// The losses of a table's lines, by the rank in the second column.
std::vector<std::vector<std::string>> losses_by_rank(const fs::path& steps, std::size_t ranks) {
  std::vector<std::vector<std::string>> losses(ranks);
  for (const auto& row : rows_of(steps)) losses.at(std::stoul(row[1])).push_back(row[3]);
  return losses;
}

// Two replicas in each of two lines: those of a line have each half of the batch, as two ranks alone have.
TEST_F(InAMesh, EachLineHasTheWholeBatch) {
  const Ended lines_ended = run("--ranks 4 --mesh data=2,tensor=2", "lines");
  ASSERT_EQ(lines_ended.code, 0) << lines_ended.text;
  EXPECT_THAT(lines_ended.text, HasSubstr(", all_reduce on 4 ranks (data=2,tensor=2) of two_by_four\n"));
  ASSERT_EQ(run("--ranks 2", "alone").code, 0);
  const auto lines = losses_by_rank(scratch / "lines/steps.csv", 4),
             alone = losses_by_rank(scratch / "alone/steps.csv", 2);
  ASSERT_EQ(alone[0].size(), 6U);
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(lines[rank], alone[rank / 2]) << "rank " << rank;
  const auto json = nlohmann::json::parse(text_of(scratch / "lines/run.json"));
  EXPECT_EQ(json["configuration"]["flags"]["mesh"], "data=2,tensor=2");
  EXPECT_EQ(json["configuration"]["ranks"], 4);
}

TEST_F(InAMesh, ACheckpointIsOfThatMesh) {
  const std::string flags = "--ranks 4 --algorithm one_bit_adam:warmup=2 --checkpoint-every 4 ";
  const std::string mesh = "--mesh data=2,expert=2 ";
  ASSERT_EQ(run(flags + mesh + "--checkpoint " + path("c"), "whole").code, 0);
  const Ended rest = run(flags + mesh + "--checkpoint " + path("d") + " --resume " + path("c"), "rest");
  ASSERT_EQ(rest.code, 0) << rest.text;
  for (const char* file : {"steps.csv", "evals.csv"})
    EXPECT_EQ(text_of(scratch / "rest" / file), text_of(scratch / "whole" / file)) << file;
  const Ended other = run(flags + "--checkpoint " + path("e") + " --resume " + path("c"), "other");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.text, HasSubstr("mesh=data=2,expert=2 then and mesh= now"));
}

}  // namespace
}  // namespace trigram
