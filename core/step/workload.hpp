// What is trained: real gradients on a Device, or only the time that they would take.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/lane/worker.hpp"
#include "core/registry/registry.hpp"
#include "core/step/bucket.hpp"
#include "core/step/state.hpp"

namespace trigram {

/// A parameter of these dimensions whose modelled elements are its real ones.
inline Parameter whole_parameter(std::string name, const Dimensions& dimensions, int layer, bool decays = true) {
  std::int64_t count = 1;
  for (const std::int64_t length : dimensions) count *= length;
  return {.name = std::move(name),
          .count = count,
          .modelled_count = count,
          .layer = layer,
          .decays = decays,
          .dimensions = dimensions,
          .modelled_dimensions = dimensions};
}

/// This rank's share of a workload's data; the same for every workload.
struct Shard {
  int rank = 0;                   ///< in the data-parallel group
  int world = 1;                  ///< ranks of the data-parallel group that train, without servers
  std::int64_t global_batch = 0;  ///< samples per step of a data-parallel group; 0: the workload's own
  double label_skew = 0;          ///< Dirichlet concentration; 0: independent and identically distributed
  std::uint64_t seed = 0;
  bool validation = false;  ///< score on a split held out of the training set instead of the test set
  Mesh mesh = {};           ///< whose other axes a workload may want, or refuse
};

/// A model that computes; a profile, whose layers only take their measured times; or a model that takes a profile's
/// times ("on a profile's clock"). `open` is called first, on the launching side too, so that a bad data set or batch
/// fails before any rank starts.
class Workload {
 public:
  static constexpr const char* registry_kind = "workload";
  virtual ~Workload() = default;

  /// Reads what it needs (data are shared between the ranks of a process) and fixes this rank's share.
  /// Throws UsageError naming the file, value or size.
  virtual void open(const Shard& shard) = 0;

  virtual std::vector<Parameter> parameters() const = 0;  ///< in forward order
  virtual int layers() const = 0;                         ///< backward visits layers−1 … 0
  virtual bool phantom() const = 0;                       ///< no arithmetic: buffers have a size and no data
  virtual bool times_update() const { return false; }  ///< its measured time of a step includes the optimizer's update
  virtual std::int64_t global_batch() const = 0;       ///< samples per step over all ranks of a data-parallel group
  virtual std::int64_t local_batch() const = 0;        ///< of this rank; 0 when its shard is empty
  /// What backward takes of the fullest share, by layer, where that is known before; empty where it is not.
  virtual std::vector<double> backward_seconds() const { return {}; }
  virtual double memory() const { return 0; }   ///< bytes that this rank takes beside weights and gradients
  virtual std::string description() const = 0;  ///< "mlp 64-32-10 on digits", "mlp's loss on vgg16's clock"

  /// Allocates activations and writes initial weights, the same on every rank.
  virtual void setup(Worker& worker, std::span<const ParameterView> parameters) = 0;
  /// The loss of this step's local batch goes to `loss()`. Gradients are scaled so that their mean over ranks is the
  /// gradient of the global batch's mean loss, whatever the split; an empty shard contributes zero.
  virtual void forward(Worker& worker) = 0;
  /// Fills the gradients of one layer.
  virtual void backward(Worker& worker, int layer) = 0;
  /// The same from layer `first` down to `last`; the caller reads none of these gradients before it returns. A workload
  /// whose layers only take time overrides it: one wait is then enough.
  virtual void backward_through(Worker& worker, int first, int last) {
    for (int layer = first; layer >= last; --layer) backward(worker, layer);
  }
  /// One f32 on the device: this rank's share of the global batch's mean loss, scaled as its gradients; empty for a
  /// phantom.
  virtual Buffer loss() const = 0;
  /// Names what it keeps from one step to the next, for checkpoints; weights are the trainer's. Nothing where batches
  /// and noise follow from the step alone.
  virtual void list_state(State&) {}

  /// Weights as evaluation hands them over: one host vector per parameter, in the order of `parameters`.
  using HostWeights = std::vector<std::vector<float>>;

  /// The global objective at these weights: the mean loss over the training set, or over the held-out split when the
  /// shard asks for validation. Costs no simulated time. nullopt where nothing has a loss (a profile alone).
  virtual std::optional<double> objective(Device& device, const HostWeights& weights) = 0;
  /// Accuracy in [0, 1] on the test set, or on the held-out split; NaN where the workload has none.
  virtual double accuracy(Device& device, const HostWeights& weights) = 0;
};

using Workloads = Registry<Workload>;

}  // namespace trigram
