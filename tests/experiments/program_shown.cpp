// What the program says of its results: headline, warnings, where calibrated values come from, and what documents show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/step/algorithm.hpp"
#include "core/training/backend.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/settings/run_config.hpp"
#include "tests/experiments/program_rig.hpp"
#include "tests/support/source_tree.hpp"
#include "tests/support/update_owner.hpp"

namespace trigram {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Shown : public Simulating {
 protected:
  nlohmann::json json_of(const std::string& file) const { return nlohmann::json::parse(text_of(scratch / file)); }
  std::size_t runs_in(const std::string& study) const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(scratch / study / "runs"), {}));
  }
};

TEST_F(Shown, TheHeadlineIsTheMeanStepThatSamplesASecondAreOf) {
  const Ended ended = program(
      "run --cluster two_by_four:nic_bandwidth=1Gbps --profile vgg16 --algorithm local_sgd:every=4 --steps 8 --out " +
      (scratch / "a").string());
  ASSERT_EQ(ended.code, 0) << ended.text;
  const nlohmann::json run = json_of("a/run.json"), &summary = run["summary"];
  const double iteration = summary["iteration_s"];
  EXPECT_GT(iteration, 1.5 * summary["iteration_median_s"].get<double>()) << "one step in four exchanges";
  EXPECT_NEAR(iteration * summary["samples_per_s"].get<double>(), run["workload"]["global_batch"], 0.5)
      << "up to the instants by which ranks end apart";
  EXPECT_THAT(ended.text,
              ::testing::ContainsRegex("  iteration  [0-9.]+ s mean, [0-9.]+ s median, [0-9.]+ samples/s\n"));
}

TEST_F(Shown, EveryNumberOfASummaryCanBeMeasured) {
  ASSERT_EQ(program("run --workload quadratic --steps 2 --cluster two_by_four:nic=gpu --membership mtbf --out " +
                    (scratch / "a").string())
                .code,
            0);
  const std::vector<std::string> known = measurable();
  const nlohmann::json run = json_of("a/run.json");
  const nlohmann::json flat = run["summary"].flatten();
  for (const auto& [pointer, value] : flat.items()) {
    std::string path = "summary" + pointer;
    std::replace(path.begin(), path.end(), '/', '.');
    const bool a_place = path == "summary.busiest_nic.node" || path == "summary.busiest_nic.rank";
    EXPECT_NE(a_place, std::find(known.begin(), known.end(), path) != known.end()) << path;
  }
  for (const std::string& path : known) {
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    EXPECT_TRUE(run.contains(nlohmann::json::json_pointer(pointer))) << path;
  }
}

TEST_F(Shown, WarningsReachTheScreen) {
  const std::string no_influence = "'nic_bandwidth', 'nic_latency', 'nic' have no influence: all ranks are on one node";
  const std::string cluster = "--ranks 4 --cluster two_by_four:nic_latency=5us ";
  const std::string out = " --out " + (scratch / "a").string();
  EXPECT_THAT(program("run --workload quadratic --steps 1 " + cluster + out).text,
              HasSubstr("trigram: warning: " + no_influence + "\n"));
  EXPECT_THAT(program("bench --max-size 4KiB " + cluster).text, HasSubstr("trigram: warning: " + no_influence + "\n"));
  const auto file = scratch.file("s.cfg",
                                 "[run]\nworkload = quadratic\nsteps = 1\ncluster = two_by_four:nic_latency=5us\n"
                                 "[row.few]\nranks = 4\n[row.fewer]\nranks = 2\n[row.all]\nranks = 8\n");
  const Ended study = program("study " + file.string() + " --plot off --out " + (scratch / "s").string());
  EXPECT_EQ(study.code, 0);
  EXPECT_THAT(study.text, HasSubstr("\nwarning of few, fewer: " + no_influence + "\n"));
  EXPECT_THAT(text_of(scratch / "s/table.txt"), HasSubstr("warning of few, fewer: " + no_influence));
}

TEST_F(Shown, NicsThatNothingUsesAreToldOf) {
  const std::string idle = "trigram: warning: at most 1 of the 8 NICs of a node sent to other nodes (nic=gpu); ";
  const std::string bench = "bench --cluster dgx_h100:nodes=2 --max-size 4KiB ";
  EXPECT_THAT(program(bench).text, HasSubstr(idle));
  EXPECT_THAT(program(bench + "--op all_to_all").text, Not(HasSubstr("warning")));
  EXPECT_THAT(program("bench --cluster bagua_v100:nodes=2 --max-size 4KiB").text, Not(HasSubstr("warning")));
  const std::string run = "run --workload quadratic --global-batch 16 --steps 1 --cluster dgx_h100:nodes=2 --out " +
                          (scratch / "a").string();
  EXPECT_THAT(program(run).text, HasSubstr(idle));
  EXPECT_THAT(program(run + " --hierarchy all_nics").text, Not(HasSubstr("warning")));
}

TEST(Optimizer, IsRecordedWhereItUpdates) {
  const auto recorded = [](const Settings& given) { return RunConfig("test", given).settings.at("optimizer"); };
  EXPECT_EQ(recorded({{"cluster", ""}}), "sgd");
  EXPECT_EQ(recorded({{"cluster", ""}, {"optimizer", "adam"}}), "adam");
  EXPECT_EQ(recorded({{"cluster", ""}, {"algorithm", update_owner()}}), "");
  EXPECT_EQ(recorded({{"cluster", ""}, {"algorithm", update_owner()}, {"optimizer", ""}}), "");
}

const char* const chosen_efficiency = R"([run]
workload = quadratic
steps = 1
[sweep]
cluster.nic_bandwidth = 1Gbps 2Gbps
[row.a]
algorithm = all_reduce
[row.b]
algorithm = bytegrad
[calibrate]
rows = a
cluster.nic_efficiency = 0.5 0.75 1
[calibrated]
cluster.nic_efficiency = 1
[target]
file = points.csv
x = gbps
series = system
value = seconds
axis = cluster.nic_bandwidth
unit = Gbps
)";

TEST_F(Shown, AStudyCalibratesWhenAsked) {
  // No efficiency is as slow as the published points: the fit ends at the lowest, which is not what the file says.
  scratch.file("points.csv", "system,gbps,seconds\na,1,1\na,2,1\nb,1,1\n");
  const auto file = scratch.file("s.cfg", chosen_efficiency);
  const std::string command = "study " + file.string() + " --plot off --out ";
  const Ended known = program(command + (scratch / "known").string());
  ASSERT_EQ(known.code, 0) << known.text;
  EXPECT_EQ(runs_in("known"), 4U) << "its own points and no other";
  EXPECT_THAT(known.text, AllOf(HasSubstr("calibrated cluster.nic_efficiency = 1, as [calibrated] of s.cfg says\n"),
                                HasSubstr("--recalibrate")));
  EXPECT_THAT(text_of(scratch / "known/table.txt"), HasSubstr("as [calibrated] of s.cfg says"));
  EXPECT_EQ(json_of("known/study.json")["calibration"]["source"], "as [calibrated] of s.cfg says");

  const Ended searched = program(command + (scratch / "searched").string() + " --recalibrate");
  ASSERT_EQ(searched.code, 0) << searched.text;
  EXPECT_THAT(searched.text, HasSubstr("\n  cluster.nic_efficiency = 0.5, "));
  EXPECT_THAT(searched.text, HasSubstr("calibrated cluster.nic_efficiency = 0.5, found by search over [calibrate] of "
                                       "s.cfg; [calibrated] says 1\n"));
  EXPECT_EQ(json_of("searched/study.json")["calibration"]["values"]["cluster.nic_efficiency"], "0.5");
}

TEST_F(Shown, AStudyThatNobodyCalibratedYetSearches) {
  scratch.file("points.csv", "system,gbps,seconds\na,1,1\n");
  std::string text = chosen_efficiency;
  const std::string known = "[calibrated]\ncluster.nic_efficiency = 1\n";
  text.erase(text.find(known), known.size());
  const auto file = scratch.file("s.cfg", text);
  EXPECT_THAT(program("study " + file.string() + " --plot off --out " + (scratch / "s").string()).text,
              HasSubstr("calibrated cluster.nic_efficiency = 0.5, found by search over [calibrate] of s.cfg\n"));
}

TEST_F(Shown, PicturesHaveALineForEverySweptKeyAndNameTheSourceOfValues) {
  scratch.file("points.csv", "system,gbps,seconds\na,1,1\n");
  std::string text = chosen_efficiency;
  const auto draw = [&](const std::string& name, const std::string& study) {
    const Ended ended =
        program("study " + scratch.file(name + ".cfg", study).string() + " --out " + (scratch / name).string());
    EXPECT_EQ(ended.code, 0) << ended.text;
    return text_of(scratch / name / (name + ".svg"));
  };
  EXPECT_THAT(draw("one", text), HasSubstr("Calibrated: nic_efficiency 1, as [calibrated] of one.cfg says"));
  text = text.substr(0, text.find("[calibrate]"));
  text.replace(text.find("[row.a]"), 0, "lanes = 1 2\n");
  EXPECT_THAT(draw("two", text), AllOf(HasSubstr("a, lanes=1"), HasSubstr("a, lanes=2"), HasSubstr("b, lanes=2")));
}

/// The fenced blocks of a document.
std::vector<std::string> blocks_of(const std::string& document) {
  std::vector<std::string> blocks;
  for (std::size_t begin = document.find("```"); begin != std::string::npos;) {
    const std::size_t body = document.find('\n', begin) + 1, end = document.find("```", body);
    blocks.push_back(document.substr(body, end - body));
    begin = document.find("```", end + 3);
  }
  return blocks;
}

TEST_F(Shown, TheReadmesFirstRunPrintsWhatStandsThere) {
  const std::vector<std::string> blocks = blocks_of(text_of(source_tree() / "README.md"));
  const auto is_run = [](const std::string& block) { return block.starts_with("./trigram run "); };
  const auto command = std::find_if(blocks.begin(), blocks.end(), is_run);
  ASSERT_TRUE(command != blocks.end() && command + 1 != blocks.end());
  std::string line = command->substr(10, command->find('\n') - 10);
  const std::size_t out = line.find("results/first");
  ASSERT_NE(out, std::string::npos) << line;
  line.replace(out, 13, (scratch / "first").string());
  const Ended ended = program(line);
  ASSERT_EQ(ended.code, 0) << ended.text;
  // The line after these says how long it took, which is never the same.
  const std::string shown = *(command + 1);
  EXPECT_EQ(ended.text.substr(0, shown.size()), shown);
  EXPECT_THAT(ended.text.substr(shown.size()), ::testing::StartsWith("  took "));
}

}  // namespace
}  // namespace trigram
