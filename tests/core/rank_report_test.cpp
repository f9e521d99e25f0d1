// A report survives its way between processes, whatever its numbers are.
#include "core/training/rank_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/values/error.hpp"

namespace trigram {
namespace {

TEST(RankReport, SurvivesPackingWithNaNAndInfinity) {
  RankReport report;
  report.rank = 3;
  StepRow step;
  step.step = std::int64_t{1} << 40;
  step.loss = std::nan("");
  step.bytes_sent = 7;
  step.exposed_s = 0.1;
  step.busy_s = 0.2;
  report.steps.push_back(step);
  EvalRow eval;
  eval.loss = std::numeric_limits<double>::infinity();
  eval.accuracy = std::nan("");
  eval.bytes_sent = 11;
  eval.bytes_between_nodes = 10;
  eval.busy_s = 0.4;
  eval.recorded = {{"staleness", 2.5}};
  report.evals = {EvalRow{}, eval};
  report.recorded["staleness"] = {std::nan("")};
  report.spans.push_back({2, Activity::wire, "all_reduce", 0.25, 0.5, 12});
  report.steps_done = 9;
  report.sent = {2, 3};
  report.busy_s = 0.8;
  report.cost_by_step.push_back({4, 5});
  report.setup_and_finish = {6, 7};
  report.local_batch = 0;
  report.training_seconds = 1.0 / 3;
  report.weights = {{1.5F, -0.0F, std::numeric_limits<float>::denorm_min()}, {}};
  const RankReport back = unpack(pack(report));
  EXPECT_EQ(back.rank, 3);
  EXPECT_EQ(back.steps[0].step, step.step);
  EXPECT_TRUE(std::isnan(back.steps[0].loss));
  EXPECT_EQ(back.steps[0].exposed_s, 0.1);
  EXPECT_EQ(back.steps[0].busy_s, 0.2);
  ASSERT_EQ(back.evals.size(), 2U);
  EXPECT_EQ(back.evals[1].loss, eval.loss);
  EXPECT_TRUE(std::isnan(back.evals[1].accuracy));
  EXPECT_EQ(back.evals[1].bytes_sent, 11);
  EXPECT_EQ(back.evals[1].bytes_between_nodes, 10);
  EXPECT_EQ(back.evals[1].busy_s, 0.4);
  EXPECT_EQ(back.evals[1].recorded, eval.recorded);
  EXPECT_TRUE(std::isnan(back.recorded.at("staleness").at(0)));
  EXPECT_EQ(back.spans[0].name, "all_reduce");
  EXPECT_EQ(back.spans[0].activity, Activity::wire);
  EXPECT_EQ(back.steps_done, 9);
  EXPECT_EQ(back.sent, (Cost{2, 3}));
  EXPECT_EQ(back.busy_s, 0.8);
  EXPECT_EQ(back.cost_by_step[0], (Cost{4, 5}));
  EXPECT_EQ(back.setup_and_finish, (Cost{6, 7}));
  EXPECT_EQ(back.training_seconds, 1.0 / 3);
  EXPECT_EQ(back.weights, report.weights);
  EXPECT_TRUE(std::signbit(back.weights[0][1]));
}

TEST(RankReport, WhatIsNoReportIsRefused) {
  EXPECT_THROW(unpack({}), Error);
  std::vector<std::byte> cut = pack(RankReport{});
  cut.resize(cut.size() / 2);
  EXPECT_THROW(unpack(cut), Error);
}

}  // namespace
}  // namespace trigram
