// Error feedback loses nothing: what was not sent yet is in the residuals, so it telescopes.
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "core/device/codec.hpp"
#include "core/device/on_host.hpp"
#include "core/primitives/centralized.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::error_feedback_test {
namespace {

constexpr std::int64_t elements = 37;
constexpr int steps = 20;

float input(std::int64_t step, int rank, std::int64_t element) {
  return static_cast<float>(
      std::sin(1.3 * static_cast<double>(step) + 2.1 * rank + 0.37 * static_cast<double>(element * element)));
}

/// Halves every five steps, as a schedule may.
double decaying(std::int64_t step) { return std::pow(0.5, static_cast<double>(step / 5)); }
double constant(std::int64_t) { return 1; }

/// Sums over time of what went in and came out, and what remains.
struct Ledger {
  std::vector<double> in = std::vector<double>(elements, 0.0);        ///< Σ_t γ_t mean_j x_{j,t}
  std::vector<double> residual = std::vector<double>(elements, 0.0);  ///< γ_T (mean_j δ_j + ε)
  std::vector<std::vector<double>> out;                               ///< Σ_t γ_t out_t, by rank
};

Ledger run_scatter_reduce(const std::string& codec_spec, int ranks, bool error_feedback,
                          double (*rate)(std::int64_t) = constant) {
  Ledger ledger;
  ledger.out.assign(static_cast<std::size_t>(ranks), std::vector<double>(elements, 0.0));
  std::mutex mutex;
  World world;
  world.ranks = ranks;
  Backends::make(threads(ranks))->run(world, [&](RankRuntime& runtime) -> std::vector<std::byte> {
    Worker worker(runtime, 0, Relaxation{});
    const OwnedBuffer x = worker.device.allocate(Shape::of(elements, DType::f32));
    Bucket bucket;
    bucket.gradients = x;
    CentralizedLowPrecision primitive(worker, bucket, worker.device.make_codec(codec_spec), error_feedback);
    for (worker.step = 0; worker.step < steps; ++worker.step) {
      worker.learning_rate = rate(worker.step);
      std::vector<float> host(elements);
      for (std::int64_t i = 0; i < elements; ++i)
        host[static_cast<std::size_t>(i)] = input(worker.step, worker.rank(), i);
      worker.device.upload(std::as_bytes(std::span(host)), x);
      primitive.average(worker, x);
      const std::vector<float> out = on_host<float>(worker.device, x);
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < out.size(); ++i) {
        ledger.in[i] += worker.learning_rate * host[i] / static_cast<double>(ranks);
        ledger.out[static_cast<std::size_t>(worker.rank())][i] += worker.learning_rate * out[i];
      }
    }
    if (error_feedback) {
      const std::vector<float> delta = on_host<float>(worker.device, primitive.worker_residual());
      const std::vector<float> epsilon = on_host<float>(worker.device, primitive.server_residual());
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < delta.size(); ++i) ledger.residual[i] += worker.learning_rate * delta[i] / ranks;
      const auto begin = static_cast<std::size_t>(chunk_begin(elements, ranks, worker.rank()));
      for (std::size_t i = 0; i < epsilon.size(); ++i) ledger.residual[begin + i] += worker.learning_rate * epsilon[i];
    }
    return {};
  });
  return ledger;
}

class Telescoping : public ::testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(Telescoping, OutputsAndResidualsAddUpToInputs) {
  // Σ_t out_t + ε_T + mean_j δ_{j,T} = Σ_t mean_j x_{j,t}
  const auto& [codec, ranks] = GetParam();
  const Ledger ledger = run_scatter_reduce(codec, ranks, true);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto& out = ledger.out[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_NEAR(out[i] + ledger.residual[i], ledger.in[i], 2e-6 * steps) << "rank " << rank << ", element " << i;
    }
  }
}

TEST_P(Telescoping, AlsoUnderALearningRateThatChanges) {
  // Σ_t γ_t out_t + γ_T (ε_T + mean_j δ_{j,T}) = Σ_t γ_t mean_j x_{j,t}: what weights moved by and what they still
  // will.
  const auto& [codec, ranks] = GetParam();
  const Ledger ledger = run_scatter_reduce(codec, ranks, true, decaying);
  for (const auto& out : ledger.out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      EXPECT_NEAR(out[i] + ledger.residual[i], ledger.in[i], 2e-6 * steps) << "element " << i;
  }
}

TEST_P(Telescoping, WithoutResidualsTheErrorStays) {
  const auto& [codec, ranks] = GetParam();
  if (ranks == 1) GTEST_SKIP() << "a group of one encodes nothing";
  const Ledger ledger = run_scatter_reduce(codec, ranks, false);
  double worst = 0;
  for (std::size_t i = 0; i < ledger.in.size(); ++i) worst = std::max(worst, std::abs(ledger.out[0][i] - ledger.in[i]));
  EXPECT_GT(worst, 1e-4 * steps);
}

INSTANTIATE_TEST_SUITE_P(Codecs, Telescoping,
                         ::testing::Combine(::testing::Values("minmax_uint8", "one_bit", "top_k",
                                                              "qsgd:levels=255,bucket_size=64"),
                                            ::testing::Values(1, 2, 3, 8)));

TEST(ErrorFeedback, CodecThatWouldDivergeIsRefusedWithItsBound) {
  Script script;
  script.layers = {4096};
  play(script);
  for (const char* algorithm :
       {"qsgd:levels=4,norm=2,error_feedback=on", "bytegrad:codec=(qsgd:levels=4,norm=2),error_feedback=on",
        "low_precision_decentralized:codec=(qsgd:levels=4,norm=2)"}) {
    // The bound is ω = min(d/s², √d/s) = min(512/16, √512/4) = 5.66 for buckets of 512 elements.
    try {
      train_on(threads(2), 2, scripted(algorithm, 1));
      FAIL() << algorithm << " was not refused";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("5.65"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("levels=4"), std::string::npos) << error.what();
    }
  }
  EXPECT_NO_THROW(train_on(threads(2), 2, scripted("qsgd:levels=4,norm=2", 1)));
  EXPECT_NO_THROW(train_on(threads(2), 2, scripted("qsgd:error_feedback=on", 1)));
}

}  // namespace
}  // namespace trigram::testing::error_feedback_test
