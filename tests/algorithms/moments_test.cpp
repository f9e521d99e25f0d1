// The moments of a step, in order; what an algorithm sees in them and what it says of the optimizer and in columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/step/algorithm.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing {
namespace {

using ::testing::HasSubstr;

/// The moments that one rank saw, in order, as "ready0", "update0", …
std::vector<std::string>& moments() {
  static std::vector<std::string> all;
  return all;
}

/// Writes down its moments; communicates nothing.
class Witness final : public Algorithm {
 public:
  explicit Witness(Params& params)
      : local_(params.get("local", false, "local updates")),
        owns_(params.get("owns", false, "owns the update")),
        part_(params.get("part", "all", "what the optimizer steps: all, the first bucket, or half of each")),
        agrees_(params.get("agrees", "", "where it asks for agreement: setup, step or lane")),
        records_(params.get("records", "", "a column that it records")) {}
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  bool local_updates() const override { return local_; }
  bool uses_optimizer() const override { return !owns_; }
  std::optional<Bucket> stepped(const Worker&, const Bucket& bucket) const override {
    if (part_ == "half") return bucket.part(1, 2);
    return part_ == "first" && bucket.index > 0 ? std::nullopt : std::optional(bucket);
  }
  Cost cost(const CostQuery&) const override { return {}; }
  void setup(Worker& worker, std::span<Bucket>) override {
    moments().assign(1, "setup");
    if (agrees_ == "setup") moments().push_back(std::to_string(worker.agree(7, ReduceOp::sum)));
  }
  void before_forward(Worker& worker) override {
    moments().emplace_back("before_forward");
    if (agrees_ == "step") worker.agree(7, ReduceOp::sum);
    if (agrees_ == "lane") worker.start(1, [](Worker& lane) { lane.agree(7, ReduceOp::sum); }).wait();
  }
  void gradients_ready(Worker& worker, Bucket& bucket) override {
    note("ready", bucket);
    worker.start(1, [this](Worker& lane) { rate_of_lane_ = lane.learning_rate; }).wait();
  }
  void before_update(Worker&) override { moments().emplace_back("before_update"); }
  void update(Worker& worker, Bucket& bucket) override {
    if (owns_) note("update", bucket);
    worker.record("rate", worker.learning_rate);
    worker.record("rate_of_lane", rate_of_lane_);
    if (!records_.empty()) worker.record(records_, 1);
    if (worker.step == 1) worker.record("seldom", static_cast<double>(worker.steps));
  }
  void after_update(Worker&, Bucket& bucket) override { note("after", bucket); }
  void after_step(Worker&) override { moments().emplace_back("after_step"); }
  void finish(Worker&) override { moments().emplace_back("finish"); }

 private:
  static void note(const std::string& what, const Bucket& bucket) {
    moments().push_back(what + std::to_string(bucket.index));
  }
  bool local_, owns_;
  std::string part_, agrees_, records_;
  double rate_of_lane_ = 0;
};

/// Not among the algorithms of this build: made for one test at a time.
class Moments : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const Algorithms::Registration registration(
        "witness", {"writes down its moments"}, [](Params& params) { return std::make_unique<Witness>(params); });
  }

  std::vector<std::string> of(const std::string& algorithm, bool overlap) {
    Script script;
    script.layers = {4, 4, 4};
    script.gradient = [](std::int64_t, int, std::int64_t, float) { return 1.0F; };
    play(script);
    TrainingOptions options = scripted(algorithm, 1);
    options.buckets.bytes = 32;  // layers 2 and 1 together, layer 0 alone
    options.relaxation.overlap = overlap;
    options.schedule = schedule_;
    options.steps = steps_;
    const Training training = train_on(threads(1), 1, options);
    weights_ = weights_of(training);
    recorded_ = training.ranks[0].recorded;
    return moments();
  }

  std::string schedule_ = "constant";
  std::int64_t steps_ = 1;
  std::map<std::string, std::vector<double>> recorded_;

  std::vector<std::vector<float>> weights_;
};

TEST_F(Moments, ComeInTheOrderOfAStep) {
  const std::vector<std::string> expected{"setup",  "before_forward", "ready0",     "ready1", "before_update",
                                          "after0", "after1",         "after_step", "finish"};
  EXPECT_EQ(of("witness", true), expected);
  EXPECT_EQ(of("witness", false), expected);
}

TEST_F(Moments, LocalUpdatesComeAsSoonAsABucketIsComplete) {
  const std::vector<std::string> early{"setup",  "before_forward", "ready0",     "after0", "ready1",
                                       "after1", "before_update",  "after_step", "finish"};
  EXPECT_EQ(of("witness:local=on", true), early);
  EXPECT_EQ(of("witness:local=on", false), of("witness", false));
}

TEST_F(Moments, TheOptimizerStaysOutWhereTheAlgorithmOwnsTheUpdate) {
  EXPECT_THAT(of("witness:owns=on", true), ::testing::IsSupersetOf({"update0", "after0", "update1", "after1"}));
  EXPECT_EQ(weights_[0], std::vector<float>(12, 0.0F));
  of("witness", true);
  EXPECT_EQ(weights_[0], std::vector<float>(12, -0.125F));
}

TEST_F(Moments, TheOptimizerStepsWhatTheAlgorithmSays) {
  of("witness:part=first", true);
  EXPECT_EQ(weights_[0],
            (std::vector<float>{0, 0, 0, 0, -0.125F, -0.125F, -0.125F, -0.125F, -0.125F, -0.125F, -0.125F, -0.125F}));
  of("witness:part=half", true);
  EXPECT_EQ(weights_[0], (std::vector<float>{0, 0, -0.125F, -0.125F, -0.125F, -0.125F, -0.125F, -0.125F, 0, 0, 0, 0}));
}

TEST_F(Moments, SeeTheScheduleAndKeepColumnsOfTheirOwn) {
  schedule_ = "linear";
  steps_ = 2;
  of("witness", true);
  EXPECT_EQ(weights_[0], std::vector<float>(12, -0.125F - 0.0625F));
  EXPECT_EQ(recorded_.at("rate"), (std::vector<double>{0.125, 0.0625}));
  EXPECT_EQ(recorded_.at("rate_of_lane"), (std::vector<double>{0.125, 0.0625}));
  EXPECT_TRUE(std::isnan(recorded_.at("seldom")[0]));
  EXPECT_EQ(recorded_.at("seldom")[1], 2);
}

TEST_F(Moments, ColumnsHaveNamesThatNoTableHas) {
  using ::testing::ThrowsMessage;
  for (const std::string taken : {"loss", "step", "accuracy"}) {
    EXPECT_THAT([&] { of("witness:records=" + taken, true); },
                ThrowsMessage<Error>(HasSubstr("the algorithm recorded '" + taken + "', which is a column of")));
  }
  EXPECT_THAT([&] { of("witness:records=a-b", true); },
              ThrowsMessage<Error>(HasSubstr("a column cannot be named 'a-b'")));
}

TEST(Records, AreMeansOverRanksAtEvaluations) {
  // In place an averaging is merged one step after its snapshot, and in the warm-up every step's gradients are
  // averaged.
  play({});
  TrainingOptions options = scripted("async_average:every=2,warmup=2", 6);
  options.relaxation.overlap = false;
  const Training training = train_on(threads(2), 3, options);
  const std::vector<double> staleness{0, 0, 1, 2, 1, 2};
  EXPECT_EQ(training.ranks[0].recorded.at("staleness"), staleness);
  EXPECT_TRUE(training.ranks[1].recorded.empty()) << "rows were asked of rank 0 only";
  const std::vector<EvalRow> rows = evaluations(training);
  ASSERT_EQ(rows.size(), staleness.size() + 1);
  EXPECT_TRUE(rows[0].recorded.empty());
  for (std::size_t step = 0; step < staleness.size(); ++step)
    EXPECT_EQ(rows[step + 1].recorded, (Records{{"staleness", staleness[step]}}));
}

TEST_F(Moments, AgreementIsForSetupAndFinish) {
  using ::testing::ThrowsMessage;
  EXPECT_THAT(of("witness:agrees=setup", true), ::testing::Contains("7"));
  EXPECT_THAT([&] { of("witness:agrees=step", true); },
              ThrowsMessage<Error>(HasSubstr("agree() was called in step 0; call it in setup or finish")));
  EXPECT_THAT([&] { of("witness:agrees=lane", true); },
              ThrowsMessage<Error>(HasSubstr("agree() was called inside a lane task; call it in setup or finish")));
}

}  // namespace
}  // namespace trigram::testing
