// An optimizer of the Python that started this program, as torch.optim has them.
#include <algorithm>
#include <map>

#include "core/step/optimizer.hpp"
#include "core/values/error.hpp"
#include "experiments/workloads/python_peer/peer.hpp"

namespace trigram {
namespace {

/// Steps the parameters of one bucket at a time, by the state that Python keeps for this rank. On the modelled GPU it
/// costs one kernel, which reads gradients and reads and writes weights and what is kept a weight.
class PythonOptimizer final : public Optimizer {
 public:
  explicit PythonOptimizer(Params&) {}

  void setup(Worker& worker, std::span<const Bucket> buckets) override {
    for (const Bucket& bucket : buckets) {
      for (const Tensor& tensor : bucket.tensors) {
        require(tensor.offset + tensor.count <= bucket.weights.count(), "algorithm of rank ", worker.rank(),
                " has only a part of bucket ", bucket.index,
                " stepped, and an optimizer of torch steps whole parameters; give it one of Trigram's");
        if (tensor.count > 0) order_[tensor.parameter] = 0;
      }
    }
    std::size_t next = 0;
    for (auto& [parameter, place] : order_) place = next++;
  }

  void update(Worker& worker, const Bucket& bucket, double learning_rate) override {
    const Timeline::Scope scope(worker.timeline, Activity::compute, "update");
    std::vector<const Tensor*> real;
    for (const Tensor& tensor : bucket.tensors) {
      if (tensor.count > 0) real.push_back(&tensor);
    }
    if (!real.empty()) step(worker, bucket, real, learning_rate);
    const auto elements = static_cast<double>(bucket.weights.modelled_count());
    worker.device.charge(KernelCost{2 * (1 + kept_) * elements, (3 + 2 * kept_) * elements * sizeof(float)});
  }

  std::vector<std::string> state_names() const override { return {}; }
  Buffer state(const std::string& name, int) const override {
    throw Error("an optimizer of torch keeps its state in Python, and has no '" + name + "' here");
  }
  void list_state(State&) override {
    throw UsageError(
        "an optimizer of torch keeps its state in Python, which no checkpoint holds; leave --checkpoint "
        "and --resume out");
  }

 private:
  void step(Worker& worker, const Bucket& bucket, std::span<const Tensor* const> tensors, double learning_rate) {
    Peer& peer = Peer::of_this_process();
    std::vector<std::size_t> parameters;
    for (const Tensor* tensor : tensors) {
      const std::size_t parameter = order_.at(tensor->parameter);
      parameters.push_back(parameter);
      worker.device.download(tensor->of(bucket.weights), std::as_writable_bytes(peer.weights(parameter)));
      worker.device.download(tensor->of(bucket.gradients), std::as_writable_bytes(peer.gradients(parameter)));
    }
    kept_ = peer.ask({{"ask", "update"},
                      {"rank", worker.rank()},
                      {"parameters", parameters},
                      {"learning_rate", learning_rate}})
                .at("kept");
    for (std::size_t i = 0; i < tensors.size(); ++i)
      worker.device.upload(std::as_bytes(peer.weights(parameters[i])), tensors[i]->of(bucket.weights));
  }

  std::map<int, std::size_t> order_;  ///< parameters of Python's by the workload's, which may have others between
  double kept_ = 0;                   ///< elements of state a weight, as of the last step
};

const Optimizers::Registration registration("python_optimizer",
                                            {"an optimizer of torch, as trigram.simulate of Python gives it"},
                                            [](Params& params) { return std::make_unique<PythonOptimizer>(params); });

}  // namespace
}  // namespace trigram
