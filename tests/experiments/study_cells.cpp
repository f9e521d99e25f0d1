// A study taken apart into cells, made by whoever there is, is the study that one process makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/training/backend.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::study_cells_test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

const char* const three_rows =
    "[sweep]\nseed = 1:6:1\n[row.a]\nalgorithm = all_reduce\n[row.b]\nalgorithm = decentralized\n[row.c]\nalgorithm = "
    "bytegrad\n";

class StudyCells : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
    write(three_rows);
  }

  void write(const std::string& lines) { scratch.file("s.cfg", "[run]\nworkload = quadratic\nsteps = 2\n" + lines); }
  Ended study(const std::string& flags, const std::string& out = "s") const {
    return program("study " + (scratch / "s.cfg").string() + " --jobs 2 --plot off --out " + (scratch / out).string() +
                   " " + flags);
  }
  std::string plan_path() const { return (scratch / "s/plan.jsonl").string(); }
  std::vector<nlohmann::json> plan() const {
    std::istringstream lines(text_of(plan_path()));
    std::vector<nlohmann::json> cells;
    for (std::string line; std::getline(lines, line);) cells.push_back(nlohmann::json::parse(line));
    return cells;
  }
  /// Names of the runs that are there.
  std::set<std::string> made(const std::string& out = "s") const {
    std::set<std::string> names;
    if (!fs::exists(scratch / (out + "/runs"))) return names;
    for (const auto& entry : fs::directory_iterator(scratch / (out + "/runs"))) {
      if (fs::exists(entry.path() / "run.json")) names.insert(entry.path().filename());
    }
    return names;
  }
  /// Every file of a folder of results, without what says how long a run took.
  std::map<std::string, std::string> contents(const std::string& out) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(scratch / out)) {
      if (!entry.is_regular_file()) continue;
      std::string text = text_of(entry.path());
      if (entry.path().filename() == "run.json") {
        auto run = nlohmann::json::parse(text);
        run["summary"].erase("wall_s");
        text = run.dump();
      }
      files[fs::relative(entry.path(), scratch / out)] = text;
    }
    return files;
  }
  void expect_as_made_by_one(const std::string& out = "s") const {
    const Ended one = study("", "one");
    ASSERT_EQ(one.code, 0) << one.text;
    EXPECT_EQ(contents(out), contents("one"));
  }

  Scratch scratch;
};

TEST_F(StudyCells, ArePlannedWithoutBeingMade) {
  const Ended ended = study("--plan");
  EXPECT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(ended.text, "18 cells to make in " + plan_path() + ", 0 finished\n");
  EXPECT_TRUE(made().empty());
  ASSERT_EQ(plan().size(), 18U);
  const nlohmann::json cell = plan().front();
  EXPECT_THAT(cell["cell"].get<std::string>(), ContainsRegex("^[abc]-[0-9a-f]{16}$"));
  EXPECT_TRUE(cell["seconds"].is_null() && cell["memory"].is_null()) << "nobody knows yet";
  EXPECT_THAT(cell["command"].get<std::string>(), AllOf(HasSubstr("trigram run --algorithm "), HasSubstr("--seed ")));
}

TEST_F(StudyCells, OfSharesAreAllOfThemEachOnceAndTheStudyOfOneMachine) {
  std::set<std::string> all;
  for (const char* share : {"1/3", "2/3", "3/3"}) {
    const std::set<std::string> before = made();
    const Ended ended = study("--cells " + std::string(share));
    ASSERT_EQ(ended.code, 0) << ended.text;
    EXPECT_GT(made().size(), before.size()) << share;
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(ended.text, '{')), made().size() - before.size())
        << "a line of costs for each that was made:\n"
        << ended.text;
  }
  EXPECT_EQ(made().size(), 18U);
  const Ended again = study("--cells 2/3");
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.text, "") << "what is there is not made again";
  EXPECT_EQ(study("--collect").code, 0);
  expect_as_made_by_one();
}

TEST_F(StudyCells, OfAFileAndOfStandardInputAreMadeAndNothingElse) {
  ASSERT_EQ(study("--plan").code, 0);
  const std::string head = "head -n 4 " + plan_path() + " > " + (scratch / "part").string();
  ASSERT_EQ(shell(head).code, 0);
  const std::vector<nlohmann::json> planned = plan();
  ASSERT_EQ(study("--cells " + (scratch / "part").string()).code, 0);
  std::set<std::string> names;
  for (int i = 0; i < 4; ++i) names.insert(planned[i]["cell"]);
  EXPECT_EQ(made(), names);
  const Ended rest = study("--cells - < " + plan_path());
  EXPECT_EQ(rest.code, 0) << rest.text;
  EXPECT_EQ(std::ranges::count(rest.text, '{'), 14);
  EXPECT_EQ(study("--collect").code, 0);
  expect_as_made_by_one();
}

TEST_F(StudyCells, ThatAreMissingAreSaidWhenOthersAreCollected) {
  ASSERT_EQ(study("--cells 1/2").code, 0);
  const std::size_t there = made().size();
  const Ended ended = study("--collect");
  EXPECT_EQ(ended.code, 1);
  const std::string words = std::to_string(18 - there) + " of 18 runs have not been made";
  EXPECT_THAT(ended.text, AllOf(HasSubstr(words + ", and are missing above:\n"), HasSubstr("trigram: " + words)));
  EXPECT_THAT(ended.text, Not(HasSubstr("log.txt"))) << "there is none of a run that nobody tried";
  EXPECT_EQ(rows_of(scratch / "s/runs.csv").size(), there);
  EXPECT_EQ(study("--collect").text, ended.text);
  EXPECT_EQ(study("").code, 0) << "the plain command makes the others";
  expect_as_made_by_one();
}

TEST_F(StudyCells, MadeByTwoAtOnceAreMadeAsByOne) {
  ASSERT_EQ(study("--plan").code, 0);
  const std::string one = program_path() + " study " + (scratch / "s.cfg").string() + " --jobs 2 --out " +
                          (scratch / "s").string() + " --cells " + plan_path() + " > /dev/null 2>&1";
  for (int round = 0; round < 3; ++round) {
    fs::remove_all(scratch / "s/runs");
    const Ended both = shell("(" + one + ") & first=$!; (" + one + "); second=$?; wait $first && exit $second");
    EXPECT_EQ(both.code, 0) << both.text;
    EXPECT_EQ(made().size(), 18U);
  }
  EXPECT_EQ(study("--collect").code, 0);
  expect_as_made_by_one();
}

TEST_F(StudyCells, OfAWorkerThatIsKilledAreWholeOrNotThere) {
  ASSERT_EQ(study("--plan").code, 0);
  for (const std::size_t finished : {1U, 5U, 11U}) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const std::string out = (scratch / "s").string(), file = (scratch / "s.cfg").string();
      ::freopen("/dev/null", "w", stdout);
      ::execl(program_path().c_str(), "trigram", "study", file.c_str(), "--jobs=2", "--out", out.c_str(), "--cells",
              plan_path().c_str(), nullptr);
      ::_exit(127);
    }
    while (made().size() < finished) ::usleep(1000);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    for (const std::string& name : made())
      EXPECT_TRUE(nlohmann::json::accept(text_of(scratch / ("s/runs/" + name + "/run.json")))) << name;
  }
  ASSERT_EQ(study("--cells " + plan_path()).code, 0);
  EXPECT_EQ(study("--collect").code, 0);
  EXPECT_FALSE(fs::exists(scratch / "s/.making"));
  expect_as_made_by_one();
}

TEST_F(StudyCells, TellWhatOthersLikeThemAreExpectedToTake) {
  ASSERT_EQ(study("--cells 1/2").code, 0);
  ASSERT_EQ(study("--plan").code, 0);
  double before = 1e9;
  for (const nlohmann::json& cell : plan()) {
    ASSERT_TRUE(cell["seconds"].is_number()) << cell;
    EXPECT_LE(cell["seconds"].get<double>(), before) << "the longest comes first";
    EXPECT_GT(cell["memory"].get<double>(), 1e6);
    before = cell["seconds"];
  }
}

TEST_F(StudyCells, OfAnotherBuildOrOfOtherFlagsAreRefused) {
  ASSERT_EQ(study("--plan").code, 0);
  const auto refused = [&](const nlohmann::json& cell) {
    scratch.file("other", cell.dump() + "\n");
    const Ended ended = study("--cells " + (scratch / "other").string());
    EXPECT_EQ(ended.code, 2) << ended.text;
    return ended.text;
  };
  nlohmann::json cell = plan().front();
  cell["program"] = "0123456789abcdef";
  EXPECT_THAT(refused(cell), HasSubstr("other:1: it is of another build of the program (digest 0123456789abcdef; "));
  cell = plan().front();
  cell["flags"]["steps"] = "3";
  EXPECT_THAT(refused(cell), ContainsRegex("other:1: it is called [abc]-.*, and its flags make [abc]-"));
  cell["flags"]["steps"] = 3;
  EXPECT_THAT(refused(cell), HasSubstr("other:1: flag 'steps' is no text"));
  EXPECT_THAT(refused("nothing"), HasSubstr("other:1: it is no cell"));
  EXPECT_THAT(study("--cells 4/3").text, HasSubstr("--cells 4/3 is none of 3 shares; the first is 1/3, the last 3/3"));
  EXPECT_THAT(study("--cells nowhere").text, HasSubstr("--cells nowhere is no file that can be read"));
  EXPECT_THAT(study("--cells 1/3 --collect").text, HasSubstr("exclude each other; give one"));
  EXPECT_TRUE(made().empty());
}

TEST_F(StudyCells, ThatFailAreSaidAndTriedAgain) {
  write(
      "profile = vgg16\nfidelity = fluid\n[sweep]\nsteps = 2 200\n[row.whole]\n[row.breaks]\nalgorithm = "
      "decentralized\n"
      "cluster.faults = 20s/nic/0\n");
  ASSERT_EQ(study("--plan").code, 0);
  const Ended ended = study("--cells " + plan_path());
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.text, ContainsRegex("trigram: breaks-[0-9a-f]+: .*a link between them failed"));
  const Ended collected = study("--collect");
  EXPECT_EQ(collected.code, 1);
  EXPECT_THAT(collected.text, HasSubstr("1 of 4 runs failed, and are missing above:\n"));
  ASSERT_EQ(study("--plan").code, 0);
  ASSERT_EQ(plan().size(), 1U);
  EXPECT_EQ(plan()[0]["failed"], true);
  EXPECT_EQ(study("", "one").code, 1);
  auto there = contents("s");
  there.erase("plan.jsonl");
  there.erase("costs.jsonl");
  EXPECT_EQ(there, contents("one"));
}

TEST_F(StudyCells, ThatDecideOthersComeBeforeThem) {
  write(
      "evaluate-every = 1\n[selection]\nchoose = lr\nfrom = 0.1 0.2\nseeds = 5 6\n[row.a]\nworkload = "
      "mlp:batch=8\n[row.b]\n"
      "workload = mlp:batch=16\n");
  EXPECT_THAT(study("--plan").text, HasSubstr("4 cells to make in "));
  EXPECT_THAT(study("--plan").text, HasSubstr("0 finished; more follow, which these decide: plan again"));
  ASSERT_EQ(study("--cells 1/2").code, 0);
  const Ended early = study("--collect");
  EXPECT_EQ(early.code, 1);
  EXPECT_THAT(early.text, HasSubstr(" of 2 runs to choose lr have not been made"));
  for (int stage = 0; stage < 2; ++stage) {
    ASSERT_EQ(study("--plan").code, 0);
    ASSERT_EQ(study("--cells " + plan_path()).code, 0);
  }
  EXPECT_THAT(study("--plan").text, HasSubstr("0 cells to make in " + plan_path() + ", 8 finished\n"));
  EXPECT_EQ(study("--collect").code, 0);
  expect_as_made_by_one();
}

}  // namespace
}  // namespace trigram::testing::study_cells_test
