// Ranks that drive sessions by the functions of C: closed forms of what they train, and training that goes on from a
// state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>

#include "core/step/bucketwise.hpp"
#include "tests/session/caller.hpp"

namespace trigram::testing::session_test {
namespace {

using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Truly;

constexpr int steps = 4;
constexpr double rate = 0.5;

const std::vector<int>& sizes() {
  static const std::vector<int> all{3, 1, 5, 2};
  return all;
}
constexpr int elements = 11;

/// Two buckets or more, on two lanes.
Flags small_buckets(int ranks, const std::string& algorithm) {
  return job_of(ranks, {{"algorithm", algorithm}, {"bucket-size", "12B"}, {"lanes", "2"}, {"seed", "5"}});
}

/// −η Σ over steps of the mean over ranks, of which no number is rounded.
float trained(int ranks, int parameter) {
  float sum = 0;
  for (int step = 0; step < steps; ++step) {
    for (int rank = 0; rank < ranks; ++rank) sum += gradient_of(rank, step, parameter);
  }
  return -static_cast<float>(rate) * sum / static_cast<float>(ranks);
}

class Trained : public ::testing::TestWithParam<std::string> {};

TEST_P(Trained, WeightsAreThoseOfTheMeanGradient) {
  constexpr int ranks = 4;
  on_ranks(ranks, [] {
    CalledSession session(small_buckets(ranks, GetParam()), sizes());
    session.put_weights(std::vector<float>(elements, static_cast<float>(session.rank())));
    succeed(session.share_weights());
    succeed(session.adopt());
    EXPECT_THAT(session.all_weights(), Each(0.0F)) << "rank 0's";
    for (int step = 0; step < steps; ++step) session.step(step, rate);
    succeed(trigram_finish(session));
    EXPECT_EQ(trigram_has_ended(session), 1);
    for (int i = 0; i < session.parameters(); ++i) {
      for (int element = 0; element < session.count(i); ++element)
        EXPECT_EQ(session.weights(i)[element], trained(ranks, i)) << i << " of rank " << session.rank();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Means, Trained, ::testing::Values("all_reduce", "local_sgd:every=4"),
                         [](const auto& algorithm) { return algorithm.param.substr(0, algorithm.param.find(':')); });

TEST(Sessions, CountTheBytesOfEachStep) {
  constexpr int ranks = 3;
  std::atomic<std::int64_t> sent = 0;
  on_ranks(ranks, [&] {
    Flags flags = small_buckets(ranks, "all_reduce");
    flags["trace"] = "on";
    CalledSession session(flags, sizes());
    succeed(session.adopt());
    for (int step = 0; step < steps; ++step) session.step(step, rate);
    succeed(trigram_finish(session));
    succeed(trigram_rows(session));
    const nlohmann::json rows = reply();
    ASSERT_EQ(rows.size(), steps);
    for (int step = 0; step < steps; ++step) {
      EXPECT_EQ(rows[static_cast<std::size_t>(step)].at("step"), step);
      EXPECT_EQ(rows[static_cast<std::size_t>(step)].at("rank"), session.rank());
      sent += rows[static_cast<std::size_t>(step)].at("bytes_sent").get<std::int64_t>();
    }
    succeed(trigram_spans(session, (session.rank() + 1) % ranks));
    EXPECT_THAT(reply().dump(), HasSubstr("\"name\":\"all_reduce\""));
    EXPECT_EQ(trigram_spans(session, ranks), 1) << "there is no such rank";
  });
  EXPECT_EQ(sent, steps * 2 * (ranks - 1) * elements * 4) << "a ring sends each element 2 (n - 1) times";
}

TEST(Sessions, ShareAndSumOutsideOfSteps) {
  constexpr int ranks = 3;
  on_ranks(ranks, [] {
    CalledSession session(small_buckets(ranks, "all_reduce"), sizes());
    succeed(session.adopt());
    std::vector<unsigned char> bytes(100, static_cast<unsigned char>(7 + session.rank()));
    succeed(trigram_share(session, reinterpret_cast<std::uintptr_t>(bytes.data()), 100, 0));
    EXPECT_THAT(bytes, Each(7));
    std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(7 + session.rank()));
    succeed(trigram_share(session, reinterpret_cast<std::uintptr_t>(bytes.data()), 100, 2));
    EXPECT_THAT(bytes, Each(9));
    std::vector<float> numbers(100, static_cast<float>(session.rank()));
    succeed(trigram_sum(session, reinterpret_cast<std::uintptr_t>(numbers.data()), 100));
    EXPECT_THAT(numbers, Each(3.0F));
    succeed(trigram_finish(session));
  });
}

/// Names of those that see gradients alone, and that a loop with its own optimizer can train, and vectors, which
/// power_sgd cannot: zero_pp steps parts.
std::vector<std::string> readers_of_gradients_alone() {
  std::vector<std::string> names;
  for (const std::string& name : Algorithms::names()) {
    const auto algorithm = Algorithms::make(name);
    if (dynamic_cast<const GradientMethod*>(algorithm.get()) != nullptr && algorithm->uses_optimizer() &&
        name != "zero_pp" && name != "power_sgd")
      names.push_back(name);
  }
  return names;
}

class ReadsNoWeight : public ::testing::TestWithParam<std::string> {
 protected:
  static std::vector<std::vector<float>> trained(bool hides_weights) {
    constexpr int ranks = 4;
    std::vector<std::vector<float>> all(ranks);
    on_ranks(ranks, [&] {
      CalledSession session(small_buckets(ranks, GetParam()), sizes());
      EXPECT_FALSE(reply().at("reads_weights").get<bool>());
      if (hides_weights) session.hide_weights();
      succeed(session.adopt());
      for (int step = 0; step < 2 * steps; ++step) session.step(step, 0.01);
      succeed(trigram_come_to_rest(session));
      succeed(trigram_finish(session));
      EXPECT_THAT(session.hidden_weights(), Each(Truly([](float one) { return std::isnan(one); })));
      all[static_cast<std::size_t>(session.rank())] = session.all_weights();
    });
    return all;
  }
};

TEST_P(ReadsNoWeight, WeightsAreTheSameWhereTheSessionsAreNaN) { EXPECT_EQ(trained(true), trained(false)); }

INSTANTIATE_TEST_SUITE_P(Sessions, ReadsNoWeight, ::testing::ValuesIn(readers_of_gradients_alone()),
                         [](const auto& algorithm) { return algorithm.param; });

/// Names of those that say that they read no gradient, and that a loop with its own optimizer can train.
std::vector<std::string> readers_of_weights_alone() {
  std::vector<std::string> names;
  for (const std::string& name : Algorithms::names()) {
    const auto algorithm = Algorithms::make(name);
    if (!algorithm->reads_gradients() && algorithm->uses_optimizer() && algorithm->servers(4) == 0)
      names.push_back(name);
  }
  return names;
}

class ReadsNoGradient : public ::testing::TestWithParam<std::string> {
 protected:
  static std::vector<std::vector<float>> trained(bool hides_gradients) {
    constexpr int ranks = 4;
    std::vector<std::vector<float>> all(ranks);
    on_ranks(ranks, [&] {
      CalledSession session(small_buckets(ranks, GetParam()), sizes());
      succeed(session.adopt());
      if (hides_gradients) session.hide_gradients();
      for (int step = 0; step < 2 * steps; ++step) session.step(step, 0.01);
      succeed(trigram_finish(session));
      all[static_cast<std::size_t>(session.rank())] = session.all_weights();
    });
    return all;
  }
};

TEST_P(ReadsNoGradient, WeightsAreTheSameWhereItsGradientsAreNaN) {
  const auto hidden = trained(true);
  for (const auto& weights : hidden) EXPECT_THAT(weights, Each(Truly([](float one) { return std::isfinite(one); })));
  if (Algorithms::make(GetParam())->deterministic()) {
    EXPECT_EQ(hidden, trained(false));
  }
}

INSTANTIATE_TEST_SUITE_P(Sessions, ReadsNoGradient, ::testing::ValuesIn(readers_of_weights_alone()),
                         [](const auto& algorithm) { return algorithm.param; });

/// All elements of a parameter on each rank, as the model that is trained has them, after steps from 0 in which nothing
/// was exchanged yet.
std::vector<float> global_weights(const std::string& algorithm) {
  constexpr int ranks = 4, last = 2;
  std::vector<float> found(ranks);
  on_ranks(ranks, [&] {
    CalledSession session(small_buckets(ranks, algorithm), sizes());
    succeed(session.adopt());
    for (int step = 0; step < last; ++step) session.step(step, rate);
    succeed(trigram_come_to_rest(session));
    const std::vector<float> own = session.all_weights();
    succeed(trigram_global_weights(session));
    const float first = session.weights(1)[0];
    EXPECT_THAT(std::vector(session.weights(1), session.weights(1) + session.count(1)), Each(first));
    found[static_cast<std::size_t>(session.rank())] = first;
    session.put_weights(own);
    succeed(trigram_meet(session));
    session.step(last, rate);
    succeed(trigram_finish(session));
  });
  return found;
}

TEST(Sessions, GlobalWeightsAreTheMeanOrWhatTheMethodKeeps) {
  float sum = 0;
  for (int rank = 0; rank < 4; ++rank) sum += gradient_of(rank, 0, 1) + gradient_of(rank, 1, 1);
  const float mean = -static_cast<float>(rate) * sum / 4;
  EXPECT_THAT(global_weights("local_sgd:every=10"), Each(FloatNear(mean, 1e-6F)));
  EXPECT_THAT(global_weights("all_reduce"), Each(FloatNear(mean, 1e-6F)));
  for (const char* outer : {"diloco:every=10", "sparse_loco:every=10", "streaming_diloco:every=10", "no_loco:every=10"})
    EXPECT_THAT(global_weights(outer), Each(0.0F)) << outer;
}

/// Methods of each way in which lanes touch what the loop has: in buckets, in the background, by requests, steps of
/// their own.
class EveryKind : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr int ranks = 4;
  static bool loop_updates() { return Algorithms::make(GetParam())->uses_optimizer(); }

  /// By rank, after `last` steps; at half of them the session may be left for another one that goes on from its state.
  static std::vector<std::vector<float>> weights_after(int last, bool is_interrupted) {
    std::vector<std::vector<float>> all(ranks, std::vector<float>(elements));
    std::vector<std::string> states(ranks);
    on_ranks(ranks, [&] {
      const int middle = is_interrupted ? last / 2 : last;
      for (const auto& [begin, end] : {std::pair(0, middle), std::pair(middle, last)}) {
        CalledSession session(small_buckets(ranks, GetParam()), sizes(), loop_updates());
        const auto rank = static_cast<std::size_t>(session.rank());  // which may be another one's than before
        std::string& kept = states[rank];
        succeed(session.adopt());
        session.put_weights(all[rank]);
        if (begin > 0) succeed(trigram_go_on_from(session, kept.data(), static_cast<std::int64_t>(kept.size())));
        for (int step = begin; step < end; ++step) session.step(step, 0.01);
        const char* bytes = nullptr;
        std::int64_t count = 0;
        succeed(trigram_state(session, &bytes, &count));
        kept.assign(bytes, static_cast<std::size_t>(count));
        all[rank] = session.all_weights();
        succeed(trigram_finish(session));
        if (end == last) break;
      }
    });
    return all;
  }
};

TEST_P(EveryKind, GoesOnFromAStateAsIfItHadNeverStopped) {
  const auto whole = weights_after(6, false);
  for (const auto& weights : whole) {
    for (const float weight : weights) EXPECT_TRUE(std::isfinite(weight) && weight != 0);
  }
  const auto interrupted = weights_after(6, true);
  if (Algorithms::make(GetParam())->deterministic()) {
    EXPECT_EQ(whole, interrupted);
  }
}

INSTANTIATE_TEST_SUITE_P(Sessions, EveryKind,
                         ::testing::Values("all_reduce", "bytegrad:error_feedback=on", "qsgd", "local_sgd:every=4",
                                           "async_average", "decentralized", "low_precision_decentralized",
                                           "one_bit_adam:warmup=3", "choco_sgd", "ad_psgd"),
                         [](const auto& algorithm) { return algorithm.param.substr(0, algorithm.param.find(':')); });

}  // namespace
}  // namespace trigram::testing::session_test
