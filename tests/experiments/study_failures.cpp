// Runs that fail cost a study nothing but what they would have shown, and it says which they were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "core/training/backend.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::study_failures_test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class StudyFailures : public Simulating {
 protected:
  Ended study(const std::string& lines, const std::string& flags = "--plot off") const {
    const auto file = scratch.file("s.cfg", "[run]\nworkload = quadratic\n" + lines);
    return program("study " + file.string() + " --out " + (scratch / "s").string() + " " + flags);
  }
  nlohmann::json facts() const { return nlohmann::json::parse(text_of(scratch / "s/study.json")); }
  std::size_t rows_of_runs() const {
    const std::string text = text_of(scratch / "s/runs.csv");
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) - 1;
  }
};

/// Four runs of each row; a link of `breaks` is cut long before the fourth step, and long after the first two.
const char* const one_row_breaks =
    "profile = vgg16\nfidelity = fluid\n[sweep]\nsteps = 2 200\nseed = 1 2\n[row.whole]\n[row.breaks]\n"
    "algorithm = decentralized\ncluster.faults = 20s/nic/0\n";

TEST_F(StudyFailures, LeaveTablesOfTheOthersAndAreMarkedInThem) {
  const Ended ended = study(one_row_breaks);
  EXPECT_EQ(ended.code, 1) << ended.text;
  EXPECT_EQ(rows_of_runs(), 6U) << ended.text;
  const std::string table = text_of(scratch / "s/table.txt");
  EXPECT_THAT(table,
              AllOf(ContainsRegex("\nwhole  +[0-9.]+  +[0-9.]+\n"), ContainsRegex("\nbreaks  +[0-9.]+  +failed\n"),
                    HasSubstr("2 of 8 runs failed, and are missing above:\n"),
                    HasSubstr("s.cfg:9: row 'breaks', seed = 1, steps = 200: ")));
  EXPECT_THAT(ended.text, AllOf(HasSubstr(table), HasSubstr("trigram: 2 of 8 runs failed; the first: ")));
  const nlohmann::json failed = facts()["failed"];
  ASSERT_EQ(failed.size(), 2U);
  EXPECT_EQ(failed[0]["row"], "breaks");
  EXPECT_EQ(failed[0]["axes"], (nlohmann::json{{"steps", "200"}, {"seed", "1"}}));
  EXPECT_THAT(failed[0]["message"].get<std::string>(), HasSubstr("a link between them failed"));
  EXPECT_TRUE(fs::exists(scratch / "s" / failed[0]["folder"].get<std::string>() / "log.txt"));
}

TEST_F(StudyFailures, AreRepeatedByTheCommandsThatAreSaid) {
  const Ended ended = study(one_row_breaks);
  const std::string command = facts()["failed"][0]["command"];
  EXPECT_THAT(ended.text, HasSubstr("    " + command + "\n"));
  ASSERT_THAT(command, ::testing::StartsWith("trigram run --"));
  const Ended again = program(command.substr(8) + " --out " + (scratch / "r").string());
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.text, HasSubstr(facts()["failed"][0]["message"].get<std::string>()));
}

TEST_F(StudyFailures, AreDrawnAsMissingAndThePicturesCanBeDrawnAgain) {
  if (!has_matplotlib()) GTEST_SKIP() << "matplotlib is missing";
  const std::string missing = "Missing, since runs failed: breaks, steps = 200 (2 runs).";
  EXPECT_EQ(study(one_row_breaks, "").code, 1);
  EXPECT_THAT(text_of(scratch / "s/s.svg"), HasSubstr(missing));
  fs::remove(scratch / "s/s.svg");
  const Ended drawn = program("plot --formats svg " + (scratch / "s").string());
  EXPECT_EQ(drawn.code, 0) << drawn.text;
  EXPECT_THAT(text_of(scratch / "s/s.svg"), HasSubstr(missing));
}

TEST_F(StudyFailures, OfAllRunsLeaveATableThatSaysSo) {
  const Ended ended =
      study("steps = 200\nprofile = vgg16\nfidelity = fluid\ncluster.faults = 1s/nic/0\n[goal]\nloss = 1\n", "");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.text, AllOf(ContainsRegex("\nall  +failed\n"), HasSubstr("1 of 1 runs failed; the first: ")));
  EXPECT_EQ(rows_of_runs(), 0U);
}

TEST_F(StudyFailures, OfAChoiceTakeTheOtherValues) {
  const std::string grid =
      "steps = 10\n[row.a]\nworkload = mlp:data=digits,hidden=4\n[selection]\nchoose = lr\nseeds = 1\nfrom = ";
  const Ended some = study(grid + "0.01 1e30\n");
  EXPECT_EQ(some.code, 0) << some.text;
  EXPECT_THAT(some.text, HasSubstr("chosen for a: lr = 0.01\n"));
  const Ended none = study(grid + "1e29 1e30\n");
  EXPECT_EQ(none.code, 1) << none.text;
  EXPECT_THAT(none.text, AllOf(HasSubstr("row 'a': every lr of [selection] diverged or failed"),
                               HasSubstr("1 of 3 runs failed"), Not(HasSubstr("chosen for"))));
  EXPECT_EQ(facts()["failed"].back()["phase"], "runs");
}

TEST_F(StudyFailures, OfAMapLeaveTheOthersWinners) {
  const Ended ended = study(
      "profile = vgg16\nfidelity = fluid\nsteps = 200\n[sweep]\ncluster.nic_bandwidth = 10Gbps 100Gbps\n"
      "cluster.nic_latency = 1us 5us\n[map]\nagainst = whole\n[row.whole]\n[row.breaks]\ncluster.faults = 1s/nic/0\n");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(text_of(scratch / "s/winners.csv"), HasSubstr("iteration,10Gbps,1us,whole,"));
  EXPECT_THAT(ended.text,
              AllOf(HasSubstr("5 of 10 runs failed"), HasSubstr("of the runs on the cluster's own network: ")));
}

TEST_F(StudyFailures, AFolderThatHoldsRunsAloneSaysWhatToDo) {
  fs::create_directories(scratch / "s/runs/a-1");
  const Ended ended = program("plot " + (scratch / "s").string());
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, HasSubstr("holds runs of a study that has not ended; its command makes the others"));
}

}  // namespace
}  // namespace trigram::testing::study_failures_test
