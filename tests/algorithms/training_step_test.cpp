// A loop of the test's own drives steps, moment by moment, and learns what the training loop does.
#include "core/step/training_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/training/trainer.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Fails before the update.
class Breaking final : public Algorithm {
 public:
  explicit Breaking(Params&) {}
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  Cost cost(const CostQuery&) const override { return {}; }
  void before_update(Worker&) override { throw BackendError("the link is gone"); }
};

/// One rank with three tensors in two buckets, {c, b} and {a}.
class Driven : public ::testing::Test {
 protected:
  using Drive = std::function<void(TrainingStep&)>;

  static void drive(const std::string& algorithm, const Drive& moments, bool own_optimizer = true) {
    run_ranks<float>("threads", 1, [&](RankRuntime& runtime) {
      Worker worker(runtime, 0, {});
      const std::vector<Parameter> parameters{{"a", 4, 4, 0}, {"b", 4, 4, 1}, {"c", 4, 4, 2}};
      BucketStore store(worker.device, parameters, plan_buckets(parameters, {32, 1}, false));
      TrainingStep::Parts parts = TrainingStep::make_parts(algorithm, "");
      if (!own_optimizer) parts.optimizer = nullptr;
      TrainingStep step(worker, store.buckets(), std::move(parts));
      try {
        moments(step);
      } catch (const Error&) {
        step.abandon();
        throw;
      }
      return std::vector<float>();
    });
  }

  static void expect_refusal(const Drive& moments, const std::string& message, bool own_optimizer = true) {
    EXPECT_THAT([&] { drive("all_reduce", moments, own_optimizer); }, ThrowsMessage<Error>(HasSubstr(message)));
  }

  static void whole_step(TrainingStep& step, std::int64_t index) {
    step.begin(index, 0.125);
    step.bucket_ready(0);
    step.bucket_ready(1);
    step.before_update();
    step.update();
    step.end();
  }
};

TEST_F(Driven, MomentsOutOfPlaceAreRefusedWithWhatWouldBeRight) {
  expect_refusal([](TrainingStep& step) { step.begin(0, 0.1); },
                 "rank 0, before the first step: 'begin' of step 0 was called, but 'setup' must be called first");
  expect_refusal(
      [](TrainingStep& step) {
        step.setup(3);
        step.update();
      },
      "rank 0, before the first step: 'update' was called, but 'begin' must be called next");
  const auto in_step_3 = [](const Drive& moments) {
    return [=](TrainingStep& step) {
      step.setup(3);
      step.begin(3, 0.1);
      moments(step);
    };
  };
  expect_refusal(in_step_3([](TrainingStep& step) { step.begin(4, 0.1); }),
                 "rank 0, step 3: 'begin' of step 4 was called, but 'bucket_ready' of bucket 0 must be called next, "
                 "which waits for "
                 "'c', 'b'");
  expect_refusal(
      in_step_3([](TrainingStep& step) { step.quiesce(); }),
      "rank 0, step 3: 'quiesce' was called, which is for between two steps, but 'bucket_ready' of bucket 0 must be "
      "called next, which waits for 'c', 'b'");
  expect_refusal(
      in_step_3([](TrainingStep& step) { step.bucket_ready(1); }),
      "rank 0, step 3: 'bucket_ready' of bucket 1 was called, but 'bucket_ready' of bucket 0 must be called next");
  expect_refusal(in_step_3([](TrainingStep& step) {
                   step.bucket_ready(0);
                   step.bucket_ready(0);
                 }),
                 "rank 0, step 3: 'bucket_ready' of bucket 0 was called, but 'bucket_ready' of bucket 1 must be called "
                 "next, which "
                 "waits for 'a'");
  expect_refusal(in_step_3([](TrainingStep& step) {
                   step.bucket_ready(0);
                   step.before_update();
                 }),
                 "rank 0, step 3: 'before_update' was called, but 'bucket_ready' of bucket 1 must be called next");
  expect_refusal(in_step_3([](TrainingStep& step) {
                   step.rest_ready();
                   step.rest_ready();
                   step.update();
                 }),
                 "rank 0, step 3: 'update' was called, but 'before_update' must be called next");
}

TEST_F(Driven, TensorsOutOfPlaceAreRefusedByName) {
  const auto in_step_0 = [](const std::vector<int>& tensors) {
    return [=](TrainingStep& step) {
      step.setup(1);
      step.begin(0, 0.1);
      for (const int tensor : tensors) step.tensor_ready(tensor);
      step.before_update();
    };
  };
  expect_refusal(in_step_0({1, 1}),
                 "step 0: 'tensor_ready' of tensor 'b' in bucket 0 was called twice; call it once per step");
  expect_refusal(in_step_0({1, 2, 0, 2}), "step 0: 'tensor_ready' of tensor 'c' in bucket 0 was called twice");
  expect_refusal(in_step_0({3}),
                 "step 0: 'tensor_ready' of tensor 3 was called, but no bucket has that tensor; there are 3");
  expect_refusal(in_step_0({0, 1}),
                 "step 0: 'before_update' was called, but 'bucket_ready' of bucket 0 must be called next, which "
                 "waits for 'c'");
  drive("all_reduce", [&](TrainingStep& step) {
    in_step_0({0, 2, 1})(step);
    step.update();
    step.end();
  });
}

TEST_F(Driven, StepsCountUpwardsFromAnyNumberAndEndWithTheTraining) {
  expect_refusal(
      [](TrainingStep& step) {
        step.setup(9);
        whole_step(step, 5);
        whole_step(step, 7);
        whole_step(step, 7);
      },
      "rank 0, step 7: 'begin' of step 7 was called, but steps count upwards: the next one must be beyond 7");
  expect_refusal(
      [](TrainingStep& step) {
        step.setup(1);
        step.finish();
        whole_step(step, 0);
      },
      "'begin' of step 0 was called, but the training has finished, so that nothing follows");
}

TEST_F(Driven, NothingFollowsAnError) {
  expect_refusal(
      [](TrainingStep& step) {
        step.setup(1);
        step.abandon();
        whole_step(step, 0);
      },
      "'begin' of step 0 was called, but the loop has left with an error, so that nothing follows");
}

TEST_F(Driven, NothingFollowsAMomentThatFailed) {
  static const Algorithms::Registration registration("mutant/breaking", {"fails before the update"},
                                                     [](Params& params) { return std::make_unique<Breaking>(params); });
  const Drive moments = [](TrainingStep& step) {
    step.setup(1);
    step.begin(0, 0.1);
    step.rest_ready();
    EXPECT_THAT([&] { step.before_update(); }, ThrowsMessage<BackendError>(HasSubstr("the link is gone")));
    step.update();
  };
  EXPECT_THAT(
      [&] { drive("mutant/breaking", moments); },
      ThrowsMessage<Error>(HasSubstr("step 0: 'update' was called, but 'before_update' has failed, so that nothing "
                                     "follows")));
}

TEST_F(Driven, ARankThatOnlyServesHasNoSteps) {
  const auto refusals = run_ranks<int>("threads", 2, [](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    const std::vector<Parameter> parameters{{"a", 4, 4, 0}};
    BucketStore store(worker.device, parameters, plan_buckets(parameters, {32, 1}, false));
    TrainingStep step(worker, store.buckets(), TrainingStep::make_parts("parameter_server", ""));
    step.setup(1);
    int refused = 0;
    if (step.only_serves()) {
      try {
        step.begin(0, 0.1);
      } catch (const Error& error) {
        refused = std::string(error.what())
                              .find(
                                  "rank 1 only serves, and has no step 0 to begin; call 'finish' after "
                                  "'setup'") != std::string::npos
                      ? 1
                      : 2;
      }
    }
    step.finish();
    return std::vector<int>{refused};
  });
  EXPECT_EQ(refusals, (std::vector<std::vector<int>>{{0}, {1}}));
}

TEST_F(Driven, TheOneWhoStepsTheWeightsIsToldApart) {
  const Drive updates = [](TrainingStep& step) { step.update(); };
  const Drive has_updated = [](TrainingStep& step) { step.updated(); };
  expect_refusal(
      updates,
      "'update' was called, but this object has no optimizer: let the loop's own optimizer step, then call 'updated'",
      false);
  expect_refusal(has_updated, "'updated' was called, but this object steps the weights: call 'update'");
  expect_refusal(
      [](TrainingStep& step) {
        step.setup(1);
        step.begin(0, 0.1);
        step.rest_ready();
        step.before_update();
        step.end();
      },
      "step 0: 'end' was called, but 'updated', when the loop's optimizer has stepped, must be called next", false);
}

}  // namespace
}  // namespace trigram::testing
