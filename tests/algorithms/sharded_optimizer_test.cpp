// ZeRO-1 stands on what algorithms may say of the optimizer: its state is cut, and its bits are all_reduce's.
#include <gtest/gtest.h>

#include <atomic>

#include "core/step/optimizer.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing {
namespace {

/// Elements of one moment that ranks keep, all ranks together, and those of the rank that keeps most.
std::atomic<std::int64_t> kept_by_all{0}, most_kept{0};

/// Adam that counts what it keeps.
class CountedAdam final : public Optimizer {
 public:
  void setup(Worker& worker, std::span<const Bucket> buckets) override {
    adam_->setup(worker, buckets);
    std::int64_t kept = 0;
    for (const Bucket& bucket : buckets) kept += adam_->state("first", bucket.index).count();
    kept_by_all += kept;
    for (std::int64_t most = most_kept; most < kept && !most_kept.compare_exchange_weak(most, kept);) continue;
  }
  void update(Worker& worker, const Bucket& bucket, double learning_rate) override {
    adam_->update(worker, bucket, learning_rate);
  }
  std::vector<std::string> state_names() const override { return adam_->state_names(); }
  Buffer state(const std::string& name, int bucket) const override { return adam_->state(name, bucket); }
  void list_state(State& state) override { adam_->list_state(state); }

 private:
  std::unique_ptr<Optimizer> adam_ = Optimizers::make("adam");
};

std::vector<std::vector<float>> weights_after(
    const std::string& algorithm, int ranks, const std::string& optimizer,
    const std::string& workload = "quadratic:dimension=29,layers=4,condition=8") {
  TrainingOptions options = scripted(algorithm, 5);
  options.workload = workload;
  options.evaluate_every = 0;
  options.optimizer = optimizer;
  return weights_of(train_on(threads(2), ranks, options));
}

class ShardedState : public ::testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() {
    static const Optimizers::Registration registration("counted_adam", {"adam that counts what it keeps"},
                                                       [](Params&) { return std::make_unique<CountedAdam>(); });
  }
};

TEST_P(ShardedState, GivesTheBitsOfAllReduce) {
  // The ring's all-reduce is a reduce-scatter and an all-gather, and optimizers take each element by itself.
  for (const char* optimizer : {"sgd", "nesterov", "adamw"}) {
    EXPECT_EQ(weights_after("newcomer/sharded_optimizer", GetParam(), optimizer),
              weights_after("all_reduce", GetParam(), optimizer))
        << optimizer;
  }
  const std::string long_chunks = "quadratic:layers=1,dimension=" + std::to_string(long_chunk * GetParam() + 261);
  EXPECT_EQ(weights_after("newcomer/sharded_optimizer", GetParam(), "sgd", long_chunks),
            weights_after("all_reduce", GetParam(), "sgd", long_chunks));
}

TEST_P(ShardedState, IsKeptOnceByAllRanksTogether) {
  kept_by_all = most_kept = 0;
  weights_after("newcomer/sharded_optimizer", GetParam(), "counted_adam");
  EXPECT_EQ(kept_by_all, 29);
  // Buckets hold whole layers of 7 or 8 elements, at most 10 of them by bytes; every part is rounded up.
  EXPECT_LE(most_kept, 29 / GetParam() + 4);
  kept_by_all = most_kept = 0;
  weights_after("all_reduce", GetParam(), "counted_adam");
  EXPECT_EQ(kept_by_all, 29 * GetParam());
}

INSTANTIATE_TEST_SUITE_P(Worlds, ShardedState, ::testing::Values(1, 2, 3, 4, 7));

}  // namespace
}  // namespace trigram::testing
