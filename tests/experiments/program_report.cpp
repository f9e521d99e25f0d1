// Result files from hand-made reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "core/values/error.hpp"
#include "experiments/record/report.hpp"
#include "experiments/record/report_file.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Two ranks, three steps; those of rank 0 begin 3 seconds before 0 and end at 5, 6 and 9 seconds. Rank 1 takes 18
/// seconds for them and sends twice the bytes.
Training training() {
  Training made;
  made.seconds = 20;
  made.ranks.resize(2);
  for (int rank = 0; rank < 2; ++rank) {
    RankReport& report = made.ranks[static_cast<std::size_t>(rank)];
    report.rank = rank;
    report.local_batch = 4;
    report.training_seconds = rank == 0 ? 12 : 18;
    report.steps_done = 3;
    report.sent = {3, 60 * (rank + 1)};
    report.sent_to_other_nodes = 36;
  }
  made.ranks[0].steps = {{0, 0, 5, 2.5, 10, 6, 1, 0, 3, 0, 4},
                         {1, 0, 6, 1.5, 20, 12, 0.5, 0, 0, 0, 0.5},
                         {2, 0, 9, 1, 30, 18, 1, 0, 0, 0, 2}};
  made.ranks[1].evals = {{3, 9, 0.25, 0.9, 0.8, 0.125}};
  made.ranks[0].evals = {{0, 0, 2.5, 0.1, 0.1, 0}};
  return made;
}

TEST(Report, SummarizesByHand) {
  const nlohmann::json summary = summarize(training(), 8);
  EXPECT_DOUBLE_EQ(summary["iteration_s"], 4);  // the mean of 8, 1 and 3
  EXPECT_DOUBLE_EQ(summary["iteration_median_s"], 3);
  EXPECT_DOUBLE_EQ(summary["iteration_slowest_rank_s"], 6);
  EXPECT_DOUBLE_EQ(summary["samples_per_s"], 4 * 3 / 12.0 + 4 * 3 / 18.0);
  EXPECT_DOUBLE_EQ(summary["bytes_per_step_mean"], 30);
  EXPECT_DOUBLE_EQ(summary["bytes_per_step_inside_nodes"], 18);
  EXPECT_DOUBLE_EQ(summary["bytes_per_step_between_nodes"], 12);
  EXPECT_DOUBLE_EQ(summary["bytes_per_step_largest"], 40);
  EXPECT_DOUBLE_EQ(summary["loss"], 0.25);
  EXPECT_DOUBLE_EQ(summary["accuracy"], 0.9);
  EXPECT_EQ(summary["empty_shards"], 0);
}

TEST(Report, CountsSamplesThatDataLinesShareOnce) {
  EXPECT_DOUBLE_EQ(summarize(training(), 4)["samples_per_s"], (4 * 3 / 12.0 + 4 * 3 / 18.0) / 2);
}

TEST(Report, NamesWhatASummaryHolds) {
  const std::vector<std::string> names = summary_names();
  EXPECT_THAT(names, ::testing::IsSupersetOf({"iteration_s", "iteration_median_s", "loss", "breakdown.wire_s"}));
  EXPECT_THAT(names, ::testing::Not(::testing::Contains("breakdown")));
}

TEST(Report, TablesHaveTheirColumns) {
  EXPECT_THAT(steps_csv(training()),
              ::testing::StartsWith(
                  "step,rank,time_s,loss,bytes_sent,bytes_between_nodes,compute_s,encode_s,wire_s,decode_s,exposed_s\n"
                  "0,0,5,2.5,10,6,1,0,3,0,4\n"));
  EXPECT_EQ(evals_csv(training()),
            "step,time_s,loss,accuracy,worst_accuracy,consensus_distance\n0,0,2.5,0.1,0.1,0\n3,9,0.25,0.9,0.8,0.125\n");
}

TEST(Report, RecordedColumnsComeBehindTheFixedOnes) {
  Training made = training();
  made.ranks[1].steps = {{0, 1, 4, 2, 10, 6, 1, 0, 3, 0, 0}};
  made.ranks[0].recorded["staleness"] = {0, std::nan(""), 2};
  made.ranks[1].recorded["averagings"] = {7};
  const std::string steps = steps_csv(made);
  EXPECT_THAT(steps, HasSubstr("exposed_s,averagings,staleness\n0,0,5,2.5,10,6,1,0,3,0,4,,0\n1,"));
  EXPECT_THAT(steps, HasSubstr(",0.5,,\n2,"));
  EXPECT_THAT(steps, ::testing::EndsWith("\n0,1,4,2,10,6,1,0,3,0,0,7,\n"));
  made.ranks[1].evals[0].recorded = {{"staleness", 1.5}};
  EXPECT_EQ(evals_csv(made),
            "step,time_s,loss,accuracy,worst_accuracy,consensus_distance,staleness\n0,0,2.5,0.1,0.1,0,\n"
            "3,9,0.25,0.9,0.8,0.125,1.5\n");
}

/// The same at 300 W and 50 W, half a joule and a quarter of a dollar a byte, and two dollars a GPU and second.
Training training_with_rates() {
  Training made = training();
  made.facts =
      R"({"expenses": {"energy_J": {"busy_gpu_s": 300, "idle_gpu_s": 50, "byte": 0.5},
                       "money_USD": {"busy_gpu_s": 2, "idle_gpu_s": 2, "byte": 0.25}}})";
  for (const auto& [step, busy] : {std::pair(0U, 2), std::pair(1U, 0), std::pair(2U, 1)})
    made.ranks[0].steps[step].busy_s = busy;
  made.ranks[0].busy_s = 3;
  made.ranks[1].busy_s = 5;
  made.ranks[1].evals[0].busy_s = 5;
  made.ranks[1].evals[0].bytes_between_nodes = 10;
  return made;
}

// A rank's row after 9 s, of which 3 s busy, and 36 bytes: 3·300 + 6·50 + 18 J. Both ranks after 9 s, 5 s busy, 10
// bytes: 5·300 + 13·50 + 5 J.
TEST(Report, JoulesAndDollarsAddUp) {
  const Training made = training_with_rates();
  EXPECT_THAT(steps_csv(made), AllOf(HasSubstr(",exposed_s,energy_J,money_USD\n0,0,5,2.5,10,6,1,0,3,0,4,753,11.5\n"),
                                     HasSubstr(",0.5,809,16.5\n"), ::testing::EndsWith(",2,1218,27\n")));
  EXPECT_EQ(evals_csv(made),
            "step,time_s,loss,accuracy,worst_accuracy,consensus_distance,energy_J,money_USD\n"
            "0,0,2.5,0.1,0.1,0,0,0\n3,9,0.25,0.9,0.8,0.125,2155,38.5\n");
}

// Both until second 20: 8 s busy and 32 s idle, 72 bytes.
TEST(Report, ASummaryHasTheJoulesAndDollarsOfAllRanks) {
  const nlohmann::json summary = summarize(training_with_rates(), 8);
  EXPECT_DOUBLE_EQ(summary["energy_J"], 8 * 300 + 32 * 50 + 36);
  EXPECT_DOUBLE_EQ(summary["money_USD"], 40 * 2 + 18);
  EXPECT_TRUE(summarize(training(), 8)["energy_J"].is_null());
}

TEST(Report, TraceIsChromes) {
  Training made = training();
  made.ranks[1].spans = {{2, Activity::wire, "all_reduce", 1.5, 2, 64}};
  std::string text;
  write_trace(made.ranks, {}, [&](std::string_view piece) { text += piece; });
  const auto trace = nlohmann::json::parse(text);
  const nlohmann::json& span = trace["traceEvents"].back();
  EXPECT_EQ(span["ph"], "X");
  EXPECT_EQ(span["pid"], 1);
  EXPECT_EQ(span["tid"], 2);
  EXPECT_DOUBLE_EQ(span["ts"], 1.5e6);
  EXPECT_DOUBLE_EQ(span["dur"], 0.5e6);
  EXPECT_EQ(span["args"]["bytes"], 64);
}

TEST(Report, TraceNamesLanesAsMessagesDo) {
  Training made = training();
  const LaneLayout layout{.bucket_lanes = 2, .hierarchy_chunks = 4};
  made.ranks[0].spans = {{layout.network_lane_of(1), Activity::wire, "all_reduce", 1, 2, 64}};
  std::string text;
  write_trace(made.ranks, layout, [&](std::string_view piece) { text += piece; });
  const nlohmann::json trace = nlohmann::json::parse(text);
  std::map<int, std::string> names;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name" && event["pid"] == 0) names[event["tid"]] = event["args"]["name"];
  }
  EXPECT_EQ(names, (std::map<int, std::string>{{0, "main lane"},
                                               {1, "lane 1 (buckets 0, 2, ...)"},
                                               {2, "lane 2 (buckets 1, 3, ...)"},
                                               {3, "background lane"},
                                               {4, "network lane of main lane"},
                                               {5, "network lane of lane 1 (buckets 0, 2, ...)"}}));
}

TEST(Report, AFileIsWholeOrAsItWas) {
  const Scratch scratch;
  write_file(scratch / "a", "old");
  const rlimit before = [] {
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    return limit;
  }();
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);  // a write beyond it fails, as on a full disk
  EXPECT_THROW(write_file(scratch / "a", std::string(5000, 'x')), UsageError);
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(text_of(scratch / "a"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1);
}

TEST(Report, ATraceComesInPieces) {
  Training made = training();
  made.ranks[1].spans.assign(50000, {1, Activity::wire, "all \"reduce\"", 1, 2, 64});
  std::size_t pieces = 0;
  std::string text;
  write_trace(made.ranks, {}, [&](std::string_view piece) {
    ++pieces;
    text += piece;
  });
  EXPECT_GT(pieces, 3U);
  const auto trace = nlohmann::json::parse(text);
  EXPECT_EQ(trace["traceEvents"].size(), 50000U + 5U);  // and two ranks with one and two lanes
  EXPECT_EQ(trace["traceEvents"].back()["name"], "all \"reduce\"");
}

TEST(Report, OnlyARegularFileIsReplaced) {
  const Scratch scratch;
  scratch.file("target", "old");
  std::filesystem::create_symlink(scratch / "target", scratch / "link");
  std::filesystem::create_directory(scratch / "folder");
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  for (const auto& [name, kind] : {std::pair("link", "a symbolic link"), std::pair("folder", "a folder"),
                                   std::pair("pipe", "a pipe"), std::pair("/dev/null", "a device")}) {
    const std::filesystem::path path = scratch.path() / name;
    const auto message = ::testing::ThrowsMessage<UsageError>("cannot write '" + path.string() + "': it is " + kind +
                                                              "; only a regular file is replaced");
    EXPECT_THAT([&] { write_file(path, "new"); }, message);
    EXPECT_THAT([&] { require_writable_file(path); }, message);
  }
  EXPECT_EQ(text_of(scratch / "target"), "old");
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link"));
  EXPECT_THAT([&] { require_writable_file(scratch / std::string(300, 'n')); },
              ::testing::ThrowsMessage<UsageError>(::testing::EndsWith(": File name too long")));
}

TEST(Report, AProbeLeavesWhatIsThere) {
  const Scratch scratch;
  scratch.file("a", "old");
  require_writable_file(scratch / "a");
  require_writable_file(scratch / "b");
  EXPECT_EQ(text_of(scratch / "a"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1);
}

TEST(Report, WhatKilledProcessesLeftIsRemovedAndWhatIsBeingWrittenIsNot) {
  const Scratch scratch;
  scratch.file(".part-0123", "half");
  NewFile file(scratch / "a");
  file.write("text");
  { const ResultFolder folder(scratch.path(), {"b"}); }
  EXPECT_FALSE(std::filesystem::exists(scratch / ".part-0123"));
  file.keep();
  EXPECT_EQ(text_of(scratch / "a"), "text");
}

TEST(Report, NamesAFolderThatCannotBe) {
  const Scratch scratch;
  scratch.file("file", "");
  EXPECT_THAT([&] { const ResultFolder folder(scratch / "file/inside", {"a"}); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("file/inside")));
}

TEST(Report, AFolderThatStaysEmptyIsRemovedWithThoseMadeForIt) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "mine");
  { const ResultFolder folder(scratch / "mine/a/b", {"file"}); }
  EXPECT_FALSE(std::filesystem::exists(scratch / "mine/a"));
  { const ResultFolder folder(scratch / "mine", {"file"}); }
  EXPECT_TRUE(std::filesystem::exists(scratch / "mine"));
  {
    const ResultFolder folder(scratch / "mine/a/b", {"file"});
    write_file(scratch / "mine/a/b/file", "text");
  }
  EXPECT_EQ(text_of(scratch / "mine/a/b/file"), "text");
}

}  // namespace
}  // namespace trigram
