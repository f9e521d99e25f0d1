// Tug of war: rank r pulls every element of x towards r, so that x ends at the mean of the ranks.
// Change: what is trained, and where its data come from.
#include <limits>

#include "core/step/workload.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

/// f(x) = mean over ranks r of ½‖x − r‖², from x = 0.
class TugOfWar final : public Workload {
 public:
  // Change: every parameter is read here, with its default, what it means and what it may be.
  explicit TugOfWar(Params& params)
      : dimension_(params.get("dimension", std::int64_t{16}, "elements of x", {1, 1 << 30})) {}

  // Change: check data and batch here, before any rank starts, and keep this rank's share.
  void open(const Shard& shard) override {
    require(shard.label_skew == 0 && !shard.validation,
            "workload 'tug_of_war' has neither labels to skew nor samples to hold out");
    require(shard.global_batch == 0 || shard.global_batch == shard.world,
            "workload 'tug_of_war' has one sample a rank: ", shard.global_batch, " samples are not ", shard.world);
    shard_ = shard;
  }

  // Change: each tensor with its dimensions and its layer, in forward order.
  std::vector<Parameter> parameters() const override { return {whole_parameter("x", {dimension_}, 0)}; }
  int layers() const override { return 1; }
  bool phantom() const override { return false; }
  std::int64_t global_batch() const override { return shard_.world; }
  std::int64_t local_batch() const override { return 1; }
  double memory() const override { return 8 * static_cast<double>(dimension_); }
  std::string description() const override { return "tug of war over " + std::to_string(dimension_) + " elements"; }

  // Change: weights begin alike on every rank.
  void setup(Worker& worker, std::span<const ParameterView> parameters) override {
    x_ = parameters.front();
    worker.device.fill(x_.weights, 0);
    goal_ = worker.device.allocate(Shape::of(dimension_, DType::f32));
    worker.device.fill(goal_, shard_.rank);
    gradient_ = worker.device.allocate(Shape::of(dimension_, DType::f32));
    loss_ = worker.device.allocate(Shape::of(1, DType::f32));
  }

  // Change: the loss of this rank's share, scaled so that the mean over ranks is that of the global batch.
  void forward(Worker& worker) override {
    worker.device.copy(goal_, gradient_);
    worker.device.axpby(1, x_.weights, -1, gradient_);
    worker.device.dot(gradient_, gradient_, loss_);
    worker.device.scale(loss_, 0.5F);
  }
  // Change: the gradients of one layer, scaled alike.
  void backward(Worker& worker, int) override { worker.device.copy(gradient_, x_.gradients); }
  Buffer loss() const override { return loss_; }

  // Change: the mean loss over all data, and the accuracy where there is one; on the host, at no cost.
  std::optional<double> objective(Device&, const HostWeights& weights) override {
    double sum = 0;
    for (int rank = 0; rank < shard_.world; ++rank) {
      for (const double x : weights.front()) sum += 0.5 * (x - rank) * (x - rank);
    }
    return sum / shard_.world;
  }
  double accuracy(Device&, const HostWeights&) override { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  std::int64_t dimension_;
  Shard shard_;
  ParameterView x_;
  OwnedBuffer goal_, gradient_, loss_;
};

// Change: what `trigram list` says, and the paper as a second text.
const Workloads::Registration registration("tug_of_war", {"every rank pulls x towards its own number"},
                                           [](Params& params) { return std::make_unique<TugOfWar>(params); });

}  // namespace
}  // namespace trigram
