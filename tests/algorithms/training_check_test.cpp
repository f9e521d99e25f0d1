// What cannot run is refused before any rank starts, with a message that says what would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "core/step/algorithm.hpp"
#include "core/step/workload.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/update_owner.hpp"

namespace trigram::testing {
namespace {

using ::testing::HasSubstr;

/// A backend of given nodes on which a rank that starts is a failure.
class NeverStarts final : public Backend {
 public:
  explicit NeverStarts(std::vector<int> nodes) : nodes_(std::move(nodes)) {}
  std::vector<int> nodes(int ranks) const override {
    require(ranks <= static_cast<int>(nodes_.size()), "too many ranks");
    return {nodes_.begin(), nodes_.begin() + ranks};
  }
  int default_ranks() const override { return static_cast<int>(nodes_.size()); }
  Outcome run(const World&, const RankBody&) override {
    ADD_FAILURE() << "ranks were started";
    return {};
  }
  bool simulated() const override { return false; }
  std::string refuses_asking() const override { return asks_ ? "" : "this place has no way back"; }
  std::string refuses_network_lanes() const override { return "this place has one way"; }
  /// Says that ranks may ask each other.
  void let_ask() { asks_ = true; }

 private:
  std::vector<int> nodes_;
  bool asks_ = false;
};

/// A workload whose second tensor is of bf16, and which no rank ever sets up.
class HalfInBf16 final : public Workload {
 public:
  void open(const Shard&) override {}
  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all = {whole_parameter("head", {2, 3}, 1), whole_parameter("trunk", {4}, 0)};
    all[1].dtype = DType::bf16;
    return all;
  }
  int layers() const override { return 2; }
  bool phantom() const override { return false; }
  std::int64_t global_batch() const override { return 1; }
  std::int64_t local_batch() const override { return 1; }
  std::string description() const override { return "half in bf16"; }
  void setup(Worker&, std::span<const ParameterView>) override {}
  void forward(Worker&) override {}
  void backward(Worker&, int) override {}
  Buffer loss() const override { return {}; }
  std::optional<double> objective(Device&, const HostWeights&) override { return std::nullopt; }
  double accuracy(Device&, const HostWeights&) override { return 0; }
};

const Workloads::Registration half_in_bf16("half_in_bf16", {"two tensors, one of them of bf16"},
                                           [](Params&) { return std::make_unique<HalfInBf16>(); });

class RefusedBeforeAnyRankStarts : public ::testing::Test {
 protected:
  void SetUp() override {
    play({});
    world_.ranks = 6;
  }

  std::string message(bool may_ask = false) {
    NeverStarts backend({0, 0, 0, 0, 1, 1});
    if (may_ask) backend.let_ask();
    try {
      run_training(backend, world_, options_);
    } catch (const UsageError& error) {
      return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
  }

  World world_;
  TrainingOptions options_ = scripted("all_reduce", 3);
};

TEST_F(RefusedBeforeAnyRankStarts, AMethodThatAsksWhereNobodyIsAnswered) {
  options_.algorithm = "ad_psgd";
  EXPECT_EQ(message(), "algorithm 'ad_psgd' needs RPC between ranks: this place has no way back");
}

TEST_F(RefusedBeforeAnyRankStarts, ServersThatLeaveNoneToTrain) {
  options_.algorithm = "parameter_server:servers=6";
  EXPECT_EQ(
      message(true),
      "algorithm 'parameter_server:servers=6' makes 6 of 6 ranks servers, which leaves none to train; ask for more "
      "ranks or for fewer servers");
}

TEST_F(RefusedBeforeAnyRankStarts, GraphsThatJoinNoPairsOrChange) {
  options_.algorithm = "ad_psgd:topology=star";
  EXPECT_EQ(
      message(true),
      "algorithm 'ad_psgd': topology star of 6 ranks gives rank 2 no neighbour of the other parity (even ranks ask "
      "odd ones); use complete");
  options_.algorithm = "ad_psgd:topology=one_peer_exponential";
  EXPECT_THAT(message(true), HasSubstr("one_peer_exponential changes from step to step, but pairs need a fixed one"));
}

TEST_F(RefusedBeforeAnyRankStarts, AnOptimizerThatWouldDoNothing) {
  options_.algorithm = update_owner();
  options_.optimizer = "adam";
  EXPECT_EQ(message(),
            "algorithm 'owner' updates weights by itself, so optimizer 'adam' would do nothing; leave it out");
  options_.optimizer.clear();
  EXPECT_NO_THROW(check(options_, world_, NeverStarts({0, 0, 0, 0, 1, 1})));
}

TEST_F(RefusedBeforeAnyRankStarts, ParametersThatAreNotF32) {
  options_.workload = "half_in_bf16";
  const std::string reason =
      "parameter 'trunk' is of bf16, but training works on f32 alone; keep parameters and gradients in f32, and round "
      "to "
      "bf16 where the model computes";
  EXPECT_EQ(message(), "workload 'half_in_bf16': " + reason);
  const BucketPlan plan = plan_buckets(HalfInBf16().parameters(), options_.buckets, false);
  try {
    check_loop(options_, world_, NeverStarts({0, 0, 0, 0, 1, 1}), plan);
    ADD_FAILURE() << "a loop of one's own was let through";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), reason);
  }
}

TEST_F(RefusedBeforeAnyRankStarts, UnknownNames) {
  options_.algorithm = "all_reuce";
  EXPECT_THAT(message(), AllOf(HasSubstr("unknown algorithm 'all_reuce'"), HasSubstr("all_reduce")));
  options_.algorithm = ":";
  EXPECT_THAT(message(),
              AllOf(HasSubstr("algorithm '' has no name"), HasSubstr("name:key=value"), HasSubstr("all_reduce")));
  options_ = scripted("all_reduce", 3);
  options_.optimizer = "adamm";
  EXPECT_THAT(message(), AllOf(HasSubstr("unknown optimizer 'adamm'"), HasSubstr("adamw")));
  options_ = scripted("all_reduce", 3);
  options_.workload = "resnet";
  EXPECT_THAT(message(), AllOf(HasSubstr("unknown workload 'resnet'"), HasSubstr("mlp")));
  options_ = scripted("decentralized:topology=moebius", 3);
  EXPECT_THAT(message(), AllOf(HasSubstr("unknown topology 'moebius'"), HasSubstr("ring")));
  options_ = scripted("bytegrad:codec=zip", 3);
  EXPECT_THAT(message(), AllOf(HasSubstr("unknown codec 'zip'"), HasSubstr("minmax_uint8")));
  options_ = scripted("all_reduce", 3);
  world_.all_reduce = "wring";
  EXPECT_THAT(message(), AllOf(HasSubstr("'wring'"), HasSubstr("ring")));
}

TEST_F(RefusedBeforeAnyRankStarts, UnknownKeysAndValues) {
  options_.algorithm = "local_sgd:evry=2";
  EXPECT_THAT(message(), AllOf(HasSubstr("algorithm 'local_sgd'"), HasSubstr("'evry'"), HasSubstr("every")));
  options_.algorithm = "local_sgd:every=0";
  EXPECT_THAT(message(), HasSubstr("every=0"));
  options_.algorithm = "local_sgd:every=soon";
  EXPECT_THAT(message(), AllOf(HasSubstr("every=soon"), HasSubstr("whole number")));
  options_.algorithm = "decentralized:mix=during";
  EXPECT_THAT(message(), AllOf(HasSubstr("mix=during"), HasSubstr("before or after")));
  options_.algorithm = "async_average:warmup=-1";
  EXPECT_THAT(message(), HasSubstr("warmup=-1"));
  options_ = scripted("all_reduce", 3);
  options_.optimizer = "momentum:momentum=1.5";
  EXPECT_THAT(message(), AllOf(HasSubstr("momentum=1.5"), HasSubstr("[0, 1)")));
}

TEST_F(RefusedBeforeAnyRankStarts, ImpossibleNumbers) {
  options_.steps = -1;
  EXPECT_THAT(message(), HasSubstr("-1 steps"));
  options_ = scripted("all_reduce", 3);
  options_.evaluate_every = -2;
  EXPECT_THAT(message(), HasSubstr("-2"));
  options_ = scripted("all_reduce", 3);
  options_.evaluate_seconds = 0.5;
  EXPECT_THAT(message(), AllOf(HasSubstr("every 1 steps"), HasSubstr("0.5")));
  options_.evaluate_every = 0;
  EXPECT_THAT(message(), HasSubstr("simulated clock"));
  options_ = scripted("all_reduce", 3);
  options_.learning_rate = -0.5;
  EXPECT_THAT(message(), HasSubstr("-0.5"));
  options_.learning_rate = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(message(), HasSubstr("nan"));
  options_.learning_rate = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message(), HasSubstr("inf"));
  options_ = scripted("all_reduce", 3);
  options_.buckets.bytes = -1;
  EXPECT_THAT(message(), HasSubstr("-1 bytes"));
  options_.buckets.bytes = 0;
  options_.buckets.alignment = 0;
  EXPECT_THAT(message(), HasSubstr("alignment of 0"));
  options_ = scripted("all_reduce", 3);
  world_.ranks = 0;
  EXPECT_THAT(message(), HasSubstr("0 ranks"));
}

TEST_F(RefusedBeforeAnyRankStarts, TopologiesWithoutSuchASize) {
  options_.algorithm = "decentralized:topology=hypercube";
  EXPECT_THAT(message(), AllOf(HasSubstr("hypercube"), HasSubstr("6")));
  options_.algorithm = "low_precision_decentralized:topology=hypercube";
  EXPECT_THAT(message(), AllOf(HasSubstr("hypercube"), HasSubstr("6")));
}

TEST_F(RefusedBeforeAnyRankStarts, DifferencesOnTopologiesThatChangeOrAreDirected) {
  for (const std::string topology : {"one_peer_exponential", "random_matching", "shift_one"}) {
    options_.algorithm = "low_precision_decentralized:topology=" + topology;
    EXPECT_THAT(message(), AllOf(HasSubstr(topology), HasSubstr("symmetric"), HasSubstr("ring")));
  }
}

TEST_F(RefusedBeforeAnyRankStarts, ChunksOfNoHierarchyAndWhereItsPhasesCannotOverlap) {
  world_.hierarchy_chunks = 4;
  EXPECT_THAT(message(), AllOf(HasSubstr("--hierarchy-chunks 4, but"), HasSubstr("--hierarchy leader")));
  options_.relaxation.hierarchy = Hierarchy::leader;
  EXPECT_THAT(message(), HasSubstr("--hierarchy-chunks 4: this place has one way"));
  world_.hierarchy_chunks = 0;
  EXPECT_THAT(message(), HasSubstr("0 chunks of a hierarchy are too few"));
}

TEST_F(RefusedBeforeAnyRankStarts, AllNicsOnUnequalNodes) {
  options_.relaxation.hierarchy = Hierarchy::all_nics;
  EXPECT_THAT(message(), AllOf(HasSubstr("node 0 has 4 ranks"), HasSubstr("node 1 has 2"), HasSubstr("leader")));
}

}  // namespace
}  // namespace trigram::testing
