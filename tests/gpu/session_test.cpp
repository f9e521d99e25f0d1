// The session's library on GPUs: what a loop orders on its own stream and what lanes do follow each other, though the
// host waits for neither, and weights are those of processors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "core/step/algorithm.hpp"
#include "core/step/training_step.hpp"
#include "core/values/error.hpp"
#include "tests/gpu/job_size.hpp"
#include "tests/gpu/own_loop.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::testing::gpu_session_test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr int steps = 4;
constexpr float rate = 0.25F;

Flags flags_of(const std::string& algorithm) {
  return {
      {"algorithm", algorithm}, {"backend", "gpu:timeout=60s"}, {"bucket-size", "256B"}, {"lanes", "2"}, {"seed", "5"}};
}

/// Of all weights before rank 0's go to everybody.
float first_weight(int rank) { return 1.5F + static_cast<float>(rank); }
float own_first_weight() {
  const auto member = member_of(launcher_environment());
  return first_weight(member ? member->rank : 0);
}

std::span<float> floats(const Buffer& x) { return {x.data<float>(), static_cast<std::size_t>(x.count())}; }

/// The same loop on a processor, whose ranks are threads.
class LoopOnThreads {
 public:
  LoopOnThreads(RankRuntime& runtime, const std::string& algorithm)
      : worker_(runtime, 0, {.seed = 5}),
        store_(worker_.device, own_parameters(), plan_buckets(own_parameters(), {.bytes = 256}, false)),
        training_(worker_, store_.buckets(), {Algorithms::make(algorithm), nullptr}) {}

  std::vector<float> run() {
    for (const ParameterView& view : store_.parameters()) worker_.device.fill(view.weights, first_weight(0));
    training_.setup(0);
    for (int step = 0; step < steps; ++step) train(step);
    training_.finish();
    std::vector<float> all;
    for (const ParameterView& view : store_.parameters()) {
      const auto weights = floats(view.weights);
      all.insert(all.end(), weights.begin(), weights.end());
    }
    return all;
  }

 private:
  void train(int step) {
    training_.begin(step, rate);
    const OwnLoss loss{worker_.rank(), step};
    for (std::size_t i = store_.parameters().size(); i-- > 0;) {
      const ParameterView& view = store_.parameters()[i];
      for (std::int64_t k = 0; k < view.weights.count(); ++k)
        view.gradients.data<float>()[k] = loss.gradient(view.weights.data<float>()[k], own_begins()[i] + k);
      training_.tensor_ready(static_cast<int>(i));
    }
    training_.rest_ready();
    training_.before_update();
    for (const ParameterView& view : store_.parameters()) {
      for (std::int64_t k = 0; k < view.weights.count(); ++k)
        view.weights.data<float>()[k] -= rate * view.gradients.data<float>()[k];
    }
    training_.updated();
    training_.end();
  }

  Worker worker_;
  BucketStore store_;
  TrainingStep training_;
};

/// The weights of that rank.
std::vector<float> trained_on_threads(const std::string& algorithm, int rank) {
  return run_ranks<float>("threads", world_of_all(), [&](RankRuntime& runtime) {
    return LoopOnThreads(runtime, algorithm).run();
  })[static_cast<std::size_t>(rank)];
}

class SessionOnGpus : public ::testing::TestWithParam<std::string> {};

TEST_P(SessionOnGpus, FollowsTheCallersStreamAndTrainsAsProcessorsDo) {
  OwnLoop loop(flags_of(GetParam()), own_first_weight());
  // What is loaded at its first use may wait for the device.
  for (int step = 0; step < steps; ++step)
    EXPECT_TRUE(loop.step(step, rate, step == 0)) << "the host waited for the device in step " << step;
  succeed(trigram_finish(loop));
  EXPECT_EQ(loop.weights(), trained_on_threads(GetParam(), loop.rank()));
}

INSTANTIATE_TEST_SUITE_P(SomeAlgorithms, SessionOnGpus,
                         ::testing::Values("all_reduce", "bytegrad:error_feedback=on", "local_sgd", "decentralized"),
                         [](const auto& algorithm) { return algorithm.param.substr(0, algorithm.param.find(':')); });

TEST(SessionsOnGpus, ShareWhatRankZeroOrdersLate) {
  OwnLoop loop(flags_of("all_reduce"), own_first_weight());
  EXPECT_THAT(loop.weights(), Each(first_weight(0)));
  succeed(trigram_finish(loop));
}

TEST(SessionsOnGpus, GoOnFromAState) {
  const std::string algorithm = "bytegrad:error_feedback=on";
  std::vector<float> weights(static_cast<std::size_t>(own_begins().back()), first_weight(0));
  std::string state;
  int rank = 0;
  for (const int begin : {0, steps / 2}) {
    OwnLoop loop(flags_of(algorithm), 0);
    rank = loop.rank();
    loop.put_weights(weights);
    if (begin > 0) succeed(trigram_go_on_from(loop, state.data(), static_cast<std::int64_t>(state.size())));
    for (int step = begin; step < begin + steps / 2; ++step) loop.step(step, rate, true);
    const char* bytes = nullptr;
    std::int64_t count = 0;
    succeed(trigram_state(loop, &bytes, &count));
    state.assign(bytes, static_cast<std::size_t>(count));
    weights = loop.weights();
    succeed(trigram_finish(loop));
  }
  EXPECT_EQ(weights, trained_on_threads(algorithm, rank));
}

/// Numbers that are `rank` + 1 late, on a stream that waits until the host says so.
struct LateNumbers {
  explicit LateNumbers(const OwnLoop& loop) : stream(loop.stream()) {
    order_fill(0, numbers.begin(), numbers.count(), stream);
    stream.synchronize();
    held.order_wait(stream);
    order_fill(static_cast<float>(loop.rank() + 1), numbers.begin(), numbers.count(), stream);
  }
  const OwnStream& stream;
  OwnNumbers numbers{1 << 14};
  MeetingKernels held;
};

TEST(SessionsOnGpus, SumWhatIsWrittenLater) {
  OwnLoop loop(flags_of("all_reduce"), 0);
  for (int round = 0; round < 10; ++round) {
    LateNumbers late(loop);
    succeed(trigram_sum(loop, late.numbers.address(), late.numbers.count()));
    late.held.raise_now();
    const float all = static_cast<float>(job_size() * (job_size() + 1)) / 2;
    EXPECT_THAT(loop.stream().read(late.numbers.begin(), late.numbers.count()), Each(all));
    EXPECT_TRUE(late.held.met()) << "the sum waited for the stream on the host";
  }
  succeed(trigram_finish(loop));
}

/// What following is for: moments that follow another stream sum what was there before.
TEST(SessionsOnGpus, SumTooEarlyWithoutFollowing) {
  const OwnStream other;
  OwnLoop loop(flags_of("all_reduce"), 0);
  LateNumbers late(loop);
  succeed(trigram_follow(loop, other.number()));
  succeed(trigram_sum(loop, late.numbers.address(), late.numbers.count()));
  EXPECT_THAT(other.read(late.numbers.begin(), late.numbers.count()), Each(0.0F));
  late.held.raise_now();
  EXPECT_THAT(loop.stream().read(late.numbers.begin(), late.numbers.count()),
              Each(static_cast<float>(loop.rank() + 1)));
  succeed(trigram_finish(loop));
}

TEST(SessionsOnGpus, HaveARowAStep) {
  OwnLoop loop(flags_of("all_reduce"), 0);
  for (int step = 0; step < steps; ++step) loop.step(step, rate, true);
  succeed(trigram_finish(loop));
  succeed(trigram_rows(loop));
  const nlohmann::json rows = reply();
  ASSERT_EQ(rows.size(), steps);
  double before = 0;
  for (const nlohmann::json& row : rows) {
    EXPECT_GT(row.at("time_s"), before);
    EXPECT_GT(row.at("exposed_s"), 0);
    before = row.at("time_s");
  }
}

TEST(SessionsOnGpus, RefuseMemoryThatIsElsewhere) {
  const auto refusal_of = [](const nlohmann::json& settings) {
    Session* session = nullptr;
    return message_of(trigram_open(settings.dump().c_str(), &session));
  };
  nlohmann::json settings = settings_on_device(flags_of("all_reduce"));
  settings.erase("device");
  EXPECT_THAT(refusal_of(settings), HasSubstr("the memory to work on is the host's, and backend 'gpu' works on that of "
                                              "CUDA devices; move models and tensors there"));
  settings = settings_on_device(flags_of("all_reduce"));
  settings["flags"]["backend"] = "torch";
  EXPECT_THAT(refusal_of(settings), HasSubstr("the memory to work on is that of CUDA device 0, and this backend works "
                                              "on the host's; take backend gpu, or move models"));
}

}  // namespace
}  // namespace trigram::testing::gpu_session_test
