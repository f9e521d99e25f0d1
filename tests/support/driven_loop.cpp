#include "tests/support/driven_loop.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/step/schedule.hpp"
#include "core/step/training_step.hpp"
#include "core/training/evaluation.hpp"
#include "tests/support/same_bits.hpp"

namespace trigram::testing {
namespace {

/// A thread that works while the one that asks for it waits, as automatic differentiation's does.
class OtherThread {
 public:
  OtherThread() : thread_([this] { work(); }) {}
  ~OtherThread() {
    hand_over([] {}, true);
    thread_.join();
  }
  OtherThread(const OtherThread&) = delete;
  OtherThread& operator=(const OtherThread&) = delete;

  void run(const std::function<void()>& body) {
    hand_over(body, false);
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void hand_over(const std::function<void()>& body, bool is_last) {
    std::unique_lock lock(mutex_);
    body_ = &body;
    last_ = is_last;
    changed_.notify_all();
    changed_.wait(lock, [this] { return body_ == nullptr; });
  }

  void work() {
    std::unique_lock lock(mutex_);
    do {  // also where the last one comes before this thread has begun
      changed_.wait(lock, [this] { return body_ != nullptr; });
      try {
        (*body_)();
      } catch (...) {
        error_ = std::current_exception();
      }
      body_ = nullptr;
      changed_.notify_all();
    } while (!last_);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* body_ = nullptr;
  std::exception_ptr error_;
  bool last_ = false;
  std::thread thread_;
};

/// All tensors of a model one behind the other, in the order of a plan.
OwnedBuffer allocate_model(Device& device, const BucketPlan& plan) {
  std::int64_t count = 0;
  for (const BucketLayout& bucket : plan.buckets) count += bucket.shape.count;
  return device.allocate(Shape::of(count, DType::f32));
}

std::vector<ParameterView> places_in(const Buffer& weights, const Buffer& gradients, const BucketPlan& plan,
                                     std::size_t parameters) {
  std::vector<ParameterView> places(parameters);
  std::int64_t begin = 0;
  for (const BucketLayout& bucket : plan.buckets) {
    for (const Tensor& tensor : bucket.tensors)
      places[static_cast<std::size_t>(tensor.parameter)] = {weights.slice(begin + tensor.offset, tensor.count),
                                                            gradients.slice(begin + tensor.offset, tensor.count)};
    begin += bucket.shape.count;
  }
  return places;
}

/// One rank's loop.
class Loop {
 public:
  Loop(RankRuntime& runtime, const TrainingOptions& options, Steps steps)
      : options_(options),
        worker_(runtime, 0, options.relaxation),
        workload_(open_workload(options, worker_.mesh(), runtime.rank())),
        parameters_(workload_->parameters()),
        plan_(plan_buckets(parameters_, options.buckets, false)),
        weights_(allocate_model(worker_.device, plan_)),
        gradients_(allocate_model(worker_.device, plan_)),
        store_(parameters_, plan_, places_in(weights_, gradients_, plan_, parameters_.size())),
        parts_(TrainingStep::make_parts(options.algorithm, options.optimizer)),
        own_optimizer_(steps == Steps::by_the_loop ? std::move(parts_.optimizer) : nullptr),
        step_(worker_, store_.buckets(), std::move(parts_)),
        schedule_(Schedules::make(options.schedule)) {}

  RankReport run() {
    try {
      workload_->setup(worker_, store_.parameters());
      step_.setup(options_.steps);
      if (own_optimizer_ != nullptr) own_optimizer_->setup(worker_, store_.buckets());
      for (std::int64_t step = 0; step < options_.steps; ++step) train(step);
      step_.finish();
    } catch (const std::exception&) {
      step_.abandon();
      throw;
    }
    RankReport report;
    report.rank = worker_.runtime().rank();
    report.weights = download_weights(worker_.device, store_.parameters());
    return report;
  }

 private:
  void train(std::int64_t step) {
    step_.begin(step, options_.learning_rate * schedule_->factor(step, options_.steps));
    workload_->forward(worker_);
    other_.run([&] { backward(); });
    step_.before_update();
    if (step_.loop_updates()) {
      for (const Bucket& bucket : store_.buckets()) own_optimizer_->update(worker_, bucket, worker_.learning_rate);
      step_.updated();
    } else {
      other_.run([&] { step_.update(); });
    }
    step_.end();
  }

  void backward() {
    worker_.runtime().take_turn();
    for (int layer = workload_->layers() - 1; layer >= 0; --layer) {
      workload_->backward(worker_, layer);
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (parameters_[i].layer == layer) step_.tensor_ready(static_cast<int>(i));
      }
    }
  }

  const TrainingOptions& options_;
  Worker worker_;
  std::unique_ptr<Workload> workload_;
  std::vector<Parameter> parameters_;
  BucketPlan plan_;
  OwnedBuffer weights_, gradients_;
  BucketStore store_;
  TrainingStep::Parts parts_;
  std::unique_ptr<Optimizer> own_optimizer_;
  TrainingStep step_;
  std::unique_ptr<const Schedule> schedule_;
  OtherThread other_;
};

}  // namespace

std::vector<RankReport> drive_as_entered(Backend& backend, const World& world, const TrainingOptions& options,
                                         Steps steps) {
  const auto workload = open_workload(options, world.axes(), 0);
  const BucketPlan plan = plan_buckets(workload->parameters(), options.buckets, false);
  check_loop(options, world, backend, plan);
  const auto rank = backend.enter(world);
  const Outcome outcome =
      run_entered(*rank, [&](RankRuntime& runtime) { return pack(Loop(runtime, options, steps).run()); });
  std::vector<RankReport> reports;
  for (const std::vector<std::byte>& result : outcome.results) reports.push_back(unpack(result));
  return reports;
}

void expect_weights_of(const std::vector<RankReport>& driven, const Training& trained) {
  ASSERT_EQ(driven.size(), trained.ranks.size());
  for (std::size_t rank = 0; rank < driven.size(); ++rank) expect_same_weights(driven[rank], trained.ranks[rank]);
}

}  // namespace trigram::testing
