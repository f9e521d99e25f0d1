// The workload "scripted": weights and gradients as the current Script says.
#include <cmath>
#include <numeric>

#include "core/device/on_host.hpp"
#include "core/step/workload.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"

namespace trigram::testing {
namespace {

Script& current() {
  static Script script;
  return script;
}

class ScriptedWorkload final : public Workload {
 public:
  ScriptedWorkload() { ++living_workloads(); }
  ~ScriptedWorkload() override { --living_workloads(); }
  void open(const Shard& shard) override { shard_ = shard; }

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all;
    for (const std::int64_t count : current().layers) {
      const std::size_t layer = all.size();
      const Dimensions vector{count};
      all.push_back(whole_parameter("layer" + std::to_string(layer),
                                    current().dimensions.empty() ? vector : current().dimensions[layer],
                                    static_cast<int>(layer)));
    }
    return all;
  }
  int layers() const override { return static_cast<int>(current().layers.size()); }
  bool phantom() const override { return false; }
  std::int64_t global_batch() const override { return shard_.world; }
  std::int64_t local_batch() const override { return 1; }
  std::string description() const override { return "scripted gradients"; }

  void setup(Worker& worker, std::span<const ParameterView> parameters) override {
    views_.assign(parameters.begin(), parameters.end());
    loss_ = worker.device.allocate(Shape::of(1, DType::f32));
    for (std::size_t layer = 0; layer < views_.size(); ++layer) {
      std::vector<float> host(static_cast<std::size_t>(views_[layer].weights.count()));
      for (std::size_t i = 0; i < host.size(); ++i)
        host[i] = current().initial(first_element(layer) + static_cast<std::int64_t>(i));
      worker.device.upload(std::as_bytes(std::span(host)), views_[layer].weights);
    }
  }

  void forward(Worker& worker) override {
    const Script& script = current();
    if (worker.rank() == script.failing_rank && worker.step == script.failing_step) {
      throw UsageError("rank " + std::to_string(worker.rank()) + " was told to fail in step " +
                       std::to_string(worker.step));
    }
    worker.device.charge_seconds(script.layer_seconds * static_cast<double>(views_.size()));
    seen_.clear();
    for (const ParameterView& view : views_) seen_.push_back(on_host<float>(worker.device, view.weights));
  }

  void backward(Worker& worker, int layer) override {
    const Script& script = current();
    worker.device.charge_seconds(script.layer_seconds);
    const auto index = static_cast<std::size_t>(layer);
    std::vector<float> gradient(seen_[index].size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = script.gradient(worker.step, worker.rank(), first_element(index) + static_cast<std::int64_t>(i),
                                    seen_[index][i]);
    }
    worker.device.upload(std::as_bytes(std::span(gradient)), views_[index].gradients);
  }

  Buffer loss() const override { return loss_; }

  std::optional<double> objective(Device&, const HostWeights& weights) override {
    const std::vector<float> flat = flattened(weights);
    return std::accumulate(flat.begin(), flat.end(), 0.0);
  }
  double accuracy(Device&, const HostWeights& weights) override { return current().accuracy(flattened(weights)); }

 private:
  static std::int64_t first_element(std::size_t layer) {
    const auto begin = current().layers.begin();
    return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(layer), std::int64_t{0});
  }
  static std::vector<float> flattened(const HostWeights& weights) {
    std::vector<float> flat;
    for (const auto& parameter : weights) flat.insert(flat.end(), parameter.begin(), parameter.end());
    return flat;
  }

  Shard shard_;
  std::vector<ParameterView> views_;
  OwnedBuffer loss_;
  HostWeights seen_;
};

const Workloads::Registration registration("scripted", {"gradients that a test writes"},
                                           [](Params&) { return std::make_unique<ScriptedWorkload>(); });

}  // namespace

std::atomic<int>& living_workloads() {
  static std::atomic<int> count{0};
  return count;
}

void play(const Script& script) { current() = script; }

}  // namespace trigram::testing
