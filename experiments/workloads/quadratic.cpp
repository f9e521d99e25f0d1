// A quadratic whose optimum is known: what identities and rates are tested on.
#include <cmath>
#include <limits>

#include "core/step/workload.hpp"
#include "core/values/error.hpp"
#include "core/values/random.hpp"
#include "experiments/workloads/data/distributions.hpp"

namespace trigram {
namespace {

constexpr int centre_stream = 3;
constexpr int noise_stream = 4;

/// f(x) = mean over ranks of ½ (x − c_r)ᵀ A (x − c_r), with A diagonal. Each of `layers` tensors is an eigenspace: its
/// eigenvalues grow geometrically from 1 to the condition number. Centres are c_r = c + heterogeneity·u_r with c and
/// u_r standard normal, and weights start at 0. The optimum is the mean of c_r; the objective is f(x) − f(optimum), so
/// it ends at 0. A rank's gradient is A (x − c_r) plus noise of deviation noise / √(local batch) an element. With
/// `integer`, eigenvalues, centres and noise are rounded to whole numbers, so that sums of gradients are exact in f32.
class Quadratic : public Workload {
 public:
  explicit Quadratic(Params& params)
      : dimension_(params.get("dimension", std::int64_t{64}, "elements of x", {1, 1 << 30})),
        layers_(params.get("layers", 4, "tensors that x is cut into, one eigenvalue each", {1, 1 << 16})),
        condition_(params.get("condition", 10.0, "largest over smallest eigenvalue", {1, 1e30})),
        heterogeneity_(
            params.get("heterogeneity", 1.0, "deviation of the ranks' centres from their common part", {0, 1e30})),
        noise_(params.get("noise", 0.0, "deviation of the gradient of one sample, an element", {0, 1e30})),
        integer_(params.get("integer", false, "round to whole numbers, for exact sums")) {
    const std::string& owner = params.owner();
    require(dimension_ >= layers_, owner, ": ", dimension_, " elements are fewer than ", layers_, " layers");
    require(layers_ > 1 || condition_ == 1 || !params.has("condition"),
            owner + ": one layer has one eigenvalue; give more layers, or condition=1");
  }

  void open(const Shard& shard) override {
    require(shard.label_skew == 0, "workload 'quadratic' has no labels to skew; its ranks differ by heterogeneity");
    require(!shard.validation, "workload 'quadratic' has no samples to hold out for validation");
    require(shard.global_batch >= 0 && shard.global_batch % shard.world == 0,
            "workload 'quadratic' weighs its ranks equally: a global batch of " + std::to_string(shard.global_batch) +
                " is no multiple of " + std::to_string(shard.world) + " ranks");
    shard_ = shard;
    local_batch_ = shard.global_batch == 0 ? 1 : shard.global_batch / shard.world;
  }

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> parameters;
    for (int layer = 0; layer < layers_; ++layer) {
      parameters.push_back(
          whole_parameter("x" + std::to_string(layer), {part_count(dimension_, layers_, layer)}, layer));
    }
    return parameters;
  }
  int layers() const override { return layers_; }
  bool phantom() const override { return false; }
  std::int64_t global_batch() const override { return local_batch_ * shard_.world; }
  std::int64_t local_batch() const override { return local_batch_; }
  double memory() const override { return 12 * static_cast<double>(dimension_); }
  std::string description() const override { return "quadratic of " + std::to_string(dimension_) + " elements"; }

  void setup(Worker& worker, std::span<const ParameterView> parameters) override;
  void forward(Worker& worker) override;
  void backward(Worker& worker, int layer) override;
  Buffer loss() const override { return loss_; }

  std::optional<double> objective(Device& device, const HostWeights& weights) override;
  double accuracy(Device&, const HostWeights&) override { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  float rounded(double value) const { return static_cast<float>(integer_ ? std::round(value) : value); }

  float eigenvalue(int layer) const {
    return rounded(layers_ == 1 ? 1.0 : std::pow(condition_, static_cast<double>(layer) / (layers_ - 1)));
  }

  /// c_rank of one layer.
  std::vector<float> centre(int rank, int layer) const {
    const Philox common({.seed = shard_.seed, .rank = 0, .bucket = centre_stream, .phase = Phase::data});
    const Philox own({.seed = shard_.seed, .rank = 1 + rank, .bucket = centre_stream, .phase = Phase::data});
    std::vector<float> values;
    for (std::int64_t i = part_begin(dimension_, layers_, layer); i < part_begin(dimension_, layers_, layer + 1); ++i) {
      const auto index = static_cast<std::uint64_t>(i);
      values.push_back(rounded(scale() * (normal(common, index) + heterogeneity_ * normal(own, index))));
    }
    return values;
  }

  /// Whole numbers need room to differ in.
  double scale() const { return integer_ ? 8.0 : 1.0; }

  void add_noise(Worker& worker, int layer, Buffer gradient);

  std::int64_t dimension_;
  int layers_;
  double condition_, heterogeneity_, noise_;
  bool integer_;
  Shard shard_;
  std::int64_t local_batch_ = 1;
  std::vector<ParameterView> views_;
  std::vector<OwnedBuffer> centres_, gradients_;
  OwnedBuffer squares_, loss_, drawn_;
};

void Quadratic::setup(Worker& worker, std::span<const ParameterView> parameters) {
  views_.assign(parameters.begin(), parameters.end());
  centres_.clear();
  gradients_.clear();
  for (int layer = 0; layer < layers_; ++layer) {
    const Shape shape = Shape::of(part_count(dimension_, layers_, layer), DType::f32);
    const std::vector<float> values = centre(shard_.rank, layer);
    worker.device.upload(std::as_bytes(std::span(values)), centres_.emplace_back(worker.device.allocate(shape)));
    gradients_.push_back(worker.device.allocate(shape));
    worker.device.fill(views_[static_cast<std::size_t>(layer)].weights, 0);
  }
  squares_ = worker.device.allocate(Shape::of(layers_, DType::f32));
  loss_ = worker.device.allocate(Shape::of(1, DType::f32));
  drawn_ = worker.device.allocate(Shape::of(part_count(dimension_, layers_, 0), DType::f32));
}

void Quadratic::forward(Worker& worker) {
  // g = λ (x − c) in each eigenspace; ½ (x − c)ᵀ A (x − c) = Σ gᵀg / (2 λ).
  std::vector<Buffer> terms;
  std::vector<float> weights;
  for (int layer = 0; layer < layers_; ++layer) {
    const auto index = static_cast<std::size_t>(layer);
    const Buffer gradient = gradients_[index];
    worker.device.copy(centres_[index], gradient);
    worker.device.axpby(eigenvalue(layer), views_[index].weights, -eigenvalue(layer), gradient);
    terms.push_back(squares_.view().slice(layer, 1));
    weights.push_back(0.5F / eigenvalue(layer));
    worker.device.dot(gradient, gradient, terms.back());
  }
  worker.device.weighted_sum(terms, weights, loss_);
}

void Quadratic::backward(Worker& worker, int layer) {
  const auto index = static_cast<std::size_t>(layer);
  worker.device.copy(gradients_[index], views_[index].gradients);
  if (noise_ > 0) add_noise(worker, layer, views_[index].gradients);
}

void Quadratic::add_noise(Worker& worker, int layer, Buffer gradient) {
  const Philox stream({.seed = shard_.seed,
                       .step = worker.step,
                       .rank = shard_.rank,
                       .bucket = noise_stream + layer,
                       .phase = Phase::data});
  std::vector<float> values(static_cast<std::size_t>(gradient.count()));
  const double deviation = scale() * noise_ / std::sqrt(static_cast<double>(local_batch_));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = rounded(deviation * normal(stream, i));
  const Buffer drawn = drawn_.view().slice(0, gradient.count());
  worker.device.upload(std::as_bytes(std::span(values)), drawn);
  worker.device.axpby(1.0F, drawn, 1.0F, gradient);
}

std::optional<double> Quadratic::objective(Device&, const HostWeights& weights) {
  // f(x) − f(x*) = ½ (x − x*)ᵀ A (x − x*), since A is the same on all ranks.
  double value = 0;
  for (int layer = 0; layer < layers_; ++layer) {
    const std::vector<float>& x = weights[static_cast<std::size_t>(layer)];
    std::vector<double> optimum(x.size(), 0.0);
    for (int rank = 0; rank < shard_.world; ++rank) {
      const std::vector<float> own = centre(rank, layer);
      for (std::size_t i = 0; i < x.size(); ++i) optimum[i] += own[i] / static_cast<double>(shard_.world);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      value += 0.5 * eigenvalue(layer) * (x[i] - optimum[i]) * (x[i] - optimum[i]);
    }
  }
  return value;
}

const Workloads::Registration registered("quadratic", {"convex quadratic with a known optimum, its own on every rank"},
                                         [](Params& params) { return std::make_unique<Quadratic>(params); });

}  // namespace
}  // namespace trigram
