// Asynchronous averages in which a rank is gone: whoever would have averaged with it keeps its weights.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/lane/metered.hpp"
#include "core/primitives/background.hpp"
#include "core/primitives/pairs.hpp"
#include "core/values/error.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::absence_test {
namespace {

constexpr int ranks = 4, gone = 3;
constexpr std::int64_t elements = 3;

/// Whose collectives fail, as a backend's do where a rank is gone that it can go on without.
class WithoutOne final : public Communicator {
 public:
  explicit WithoutOne(std::unique_ptr<Communicator> all) : all_(std::move(all)) {}

  int rank() const override { return all_->rank(); }
  int size() const override { return all_->size(); }
  Device& device() override { return all_->device(); }
  std::unique_ptr<Communicator> regroup(const GroupPart& part) override { return all_->regroup(part); }
  void exchange(std::span<const Transfer>) override { throw BackendError("rank 3 is gone"); }
  bool with_all_there(const std::function<void()>& collectives) override {
    EXPECT_THROW(collectives(), BackendError);
    return false;
  }

 private:
  std::unique_ptr<Communicator> all_;
};

/// Leaves out the one that is gone, and counts how often it was asked.
class RequestsWithoutOne final : public Requests {
 public:
  explicit RequestsWithoutOne(Requests& all) : all_(all) {}

  void open(bool serves) override { all_.open(serves); }
  void ask(int lane, std::span<const Ask> asks) override { all_.ask(lane, asks); }
  std::vector<int> ask_those_there(int lane, std::span<const Ask> asks) override {
    if (asks.front().peer != gone) return all_.ask_those_there(lane, asks);
    ++asked_;
    return {gone};
  }
  std::unique_ptr<Request> next() override { return all_.next(); }
  void leave() override { all_.leave(); }
  void exclusively(const std::function<void()>& function) override { all_.exclusively(function); }
  int asked() const { return asked_; }

 private:
  Requests& all_;
  int asked_ = 0;
};

class RankWithoutOne final : public RankRuntime {
 public:
  explicit RankWithoutOne(RankRuntime& right)
      : RankRuntime(right.rank(), std::make_shared<RankMap>(right.map()), right.layout()),
        right_(right),
        requests_(right.requests()) {}

  Lane& lane(int index) override { return right_.lane(index); }
  double now() const override { return right_.now(); }
  Pending launch(int lane, std::function<void()> task) override { return right_.launch(lane, std::move(task)); }
  std::int64_t agree(std::int64_t value, ReduceOp op) override { return right_.agree(value, op); }
  RequestsWithoutOne& requests() override { return requests_; }
  void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) override {
    right_.collect(key, std::move(part), complete);
  }

 private:
  RankRuntime& right_;
  RequestsWithoutOne requests_;
};

/// Of a rank, all weights its number.
struct Model {
  explicit Model(Worker& worker)
      : weights(on_device<float>(worker.device, std::vector<float>(elements, static_cast<float>(worker.rank())))),
        gradients(worker.device.allocate(weights.view().shape())),
        buckets{Bucket{0, gradients, weights, {}, {}}} {}

  OwnedBuffer weights, gradients;
  std::vector<Bucket> buckets;
};

class Pairs final : public PairAveraging {
 public:
  using PairAveraging::PairAveraging;
  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }

 private:
  std::int64_t message_bytes(const Shape& bucket) const override { return bucket.count * size_of(bucket.dtype); }
  void allocate(Worker& worker, const Bucket& bucket) override {
    mixed_ = worker.device.allocate(bucket.weights.shape());
  }
  Ask question(Worker& worker, const Bucket& bucket, int peer) override {
    worker.device.copy(bucket.weights, mixed_);
    return {peer, bucket.index, mixed_, mixed_};
  }
  void settle(Worker& worker, const Bucket& bucket) override { worker.device.copy(mixed_, bucket.weights); }
  Buffer answer(Worker& lane, const Request& request, Buffer own) override {
    lane.device.weighted_sum(std::array{own, request.content.view()}, std::array{0.5F, 0.5F}, own);
    return own;
  }

  OwnedBuffer mixed_;
};

TEST(Absence, AnAverageInTheBackgroundIsGivenUpAndNoOtherIsStarted) {
  for (const bool low : {false, true}) {
    const auto left = run_ranks<float>("threads", ranks, [low](RankRuntime& runtime) {
      Lane& lane = runtime.lane(runtime.layout().background());
      lane.comm = metered(std::make_unique<WithoutOne>(std::move(lane.comm)), lane.meter, lane.timeline,
                          [](int rank) { return rank; });
      Worker worker(runtime, 0, Relaxation{});
      Model model(worker);
      BackgroundAverage average;
      const std::optional codec =
          low ? std::optional(BackgroundAverage::LowPrecision{.codec = "minmax_uint8"}) : std::nullopt;
      average.setup(worker, model.buckets, codec);
      average.start(worker, /*stop=*/false);
      average.merge(worker);
      std::vector<float> values = on_host<float>(worker.device, model.weights);
      average.start(worker, /*stop=*/true);
      for (const bool told : {average.given_up(), average.running(), average.everyone_stopped(worker)})
        values.push_back(told ? 1 : 0);
      return values;
    });
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto own = static_cast<float>(rank);
      EXPECT_EQ(left[rank], (std::vector<float>{own, own, own, 1, 0, 1})) << "rank " << rank;
    }
  }
}

TEST(Absence, WhoAsksOneThatIsGoneKeepsItsWeightsAndAsksThatOneNoMore) {
  constexpr int steps = 40;
  const auto left = run_ranks<float>("threads", ranks, [](RankRuntime& all) {
    RankWithoutOne runtime(all);
    Worker worker(runtime, 0, Relaxation{});
    Model model(worker);
    Params params("pairs", "topology=ring");
    Pairs pairs(params);
    pairs.setup(worker, model.buckets);
    for (worker.step = 0; worker.step < steps; ++worker.step) {
      pairs.before_forward(worker);
      pairs.before_update(worker);
      pairs.after_step(worker);
    }
    pairs.finish(worker);
    return std::vector<float>{on_host<float>(worker.device, model.weights).front(),
                              static_cast<float>(runtime.requests().asked())};
  });
  EXPECT_NEAR(left[0][0] + left[1][0] + left[2][0], 0 + 1 + 2, 1e-5) << "the mean of those who are there has moved";
  for (std::size_t rank = 0; rank < gone; ++rank) EXPECT_NEAR(left[rank][0], 1, 0.3) << "rank " << rank;
  EXPECT_EQ(left[gone][0], gone);
  for (const std::size_t asks : {0, 2}) EXPECT_EQ(left[asks][1], 1) << "rank " << asks;
}

}  // namespace
}  // namespace trigram::absence_test
