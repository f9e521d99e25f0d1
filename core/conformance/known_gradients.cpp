#include "core/conformance/known_gradients.hpp"

#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "core/step/workload.hpp"

namespace trigram {
namespace {

constexpr double layer_seconds = 20e-6;  // a modelled pass takes time, so that asynchronous methods have some

std::int64_t first_element(std::size_t layer) {
  return std::accumulate(known_layers, known_layers + layer, std::int64_t{0},
                         [](std::int64_t sum, const KnownLayer& one) { return sum + one.rows * one.columns; });
}

class KnownGradients final : public Workload {
 public:
  explicit KnownGradients(Params& params)
      : until_(params.get("until", std::int64_t{0}, "steps whose gradients are not zero; 0: all", {.least = 0})),
        same_(params.get("same", false, "rank 0's gradients of step 0, in each step on each rank")),
        negated_(params.get("negated", -1, "a rank whose gradients have the other sign; -1: none", {.least = -1})) {}

  void open(const Shard& shard) override { shard_ = shard; }

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all;
    for (const KnownLayer& one : known_layers) {
      const int layer = static_cast<int>(all.size());
      const Dimensions vector{one.columns}, matrix{one.rows, one.columns};
      all.push_back(whole_parameter("layer" + std::to_string(layer), one.rows == 1 ? vector : matrix, layer));
    }
    return all;
  }
  int layers() const override { return static_cast<int>(std::size(known_layers)); }
  bool phantom() const override { return false; }
  std::int64_t global_batch() const override { return shard_.world; }
  std::int64_t local_batch() const override { return 1; }
  std::string description() const override {
    return "known gradients of " + std::to_string(known_elements()) + " weights";
  }

  void setup(Worker& worker, std::span<const ParameterView> parameters) override {
    views_.assign(parameters.begin(), parameters.end());
    loss_ = worker.device.allocate(Shape::of(1, DType::f32));
    for (std::size_t layer = 0; layer < views_.size(); ++layer) {
      upload(worker, views_[layer].weights, layer, [](std::int64_t element) { return known_weight(element); });
    }
  }

  void forward(Worker& worker) override { worker.device.charge_seconds(layer_seconds * layers()); }

  void backward(Worker& worker, int layer) override {
    worker.device.charge_seconds(layer_seconds);
    const bool silent = until_ > 0 && worker.step >= until_;
    const float sign = silent ? 0.0F : worker.rank() == negated_ ? -1.0F : 1.0F;
    const auto index = static_cast<std::size_t>(layer);
    upload(worker, views_[index].gradients, index,
           [&](std::int64_t element) { return sign * gradient(worker.step, worker.rank(), element); });
  }

  Buffer loss() const override { return loss_; }
  std::optional<double> objective(Device&, const HostWeights&) override { return std::nullopt; }
  double accuracy(Device&, const HostWeights&) override { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  float gradient(std::int64_t step, int rank, std::int64_t element) const {
    return same_ ? known_gradient(0, 0, element) : known_gradient(step, rank, element);
  }
  template <class Value>
  static void upload(Worker& worker, Buffer to, std::size_t layer, const Value& value) {
    std::vector<float> host(static_cast<std::size_t>(to.count()));
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = value(first_element(layer) + static_cast<std::int64_t>(i));
    worker.device.upload(std::as_bytes(std::span(host)), to);
  }

  std::int64_t until_;
  bool same_;
  int negated_;
  Shard shard_;
  std::vector<ParameterView> views_;
  OwnedBuffer loss_;
};

const Workloads::Registration registration("known_gradients",
                                           {"gradients that are known beforehand, for trigram check"},
                                           [](Params& params) { return std::make_unique<KnownGradients>(params); });

}  // namespace

std::int64_t known_elements() { return first_element(std::size(known_layers)); }

float known_weight(std::int64_t element) { return static_cast<float>(element % 5 - 2); }

float known_gradient(std::int64_t step, int rank, std::int64_t element) {
  return static_cast<float>((rank * 17 + element * 7 + rank * element * 5 + step) % 49 - 24);
}

}  // namespace trigram
