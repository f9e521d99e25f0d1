// A feed-forward network as classifiers see it: rows of features in, rows of logits out, gradients layer by layer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/device/device.hpp"
#include "core/step/bucket.hpp"
#include "experiments/workloads/data/dataset.hpp"

namespace trigram {

/// Computed by matrix products and registered operations on memory of its own. Backward visits layers() − 1 … 0.
class Network {
 public:
  virtual ~Network() = default;

  virtual int layers() const = 0;
  /// In forward order, those of one layer side by side.
  virtual std::vector<Parameter> parameters() const = 0;
  /// "64-32-10".
  virtual std::string shape() const = 0;
  /// Initial values of all parameters, keyed by `seed`.
  virtual std::vector<std::vector<float>> initial(std::uint64_t seed) const = 0;
  /// Elements that a sample takes in activations and their gradients.
  virtual double elements_a_sample() const = 0;

  /// Makes room for `rows` samples.
  virtual void allocate(Device& device, std::int64_t rows, bool with_gradients) = 0;
  /// Where the features of the batch are put.
  virtual Buffer input() const = 0;
  /// Logits of the last forward; after the loss has been taken in place, their gradient.
  virtual Buffer logits() const = 0;

  /// Computes the logits of `rows` samples from input(); `rows` may be less than there is room for.
  virtual void forward(Device& device, std::span<const Buffer> weights, std::int64_t rows) = 0;
  /// From logits() turned into their gradient: the gradients of one layer's parameters, and what the layer below needs.
  /// Reads this layer's weights, and no others.
  virtual void backward(Device& device, int layer, std::span<const ParameterView> parameters) = 0;

  /// Whether a sample's logits depend on the others of its batch, until statistics are frozen.
  virtual bool has_statistics() const { return false; }
  /// From now on forward normalises by the statistics of its last batch.
  virtual void freeze_statistics() {}
};

/// Makes a network that fits a data set. Throws UsageError where none does.
using MakeNetwork = std::function<std::unique_ptr<Network>(const Dataset&)>;

/// `count` weights of a layer, uniform in ±√(6 / fan) and keyed by `seed`. Fan is fan-in before a ReLU (He et al., ICCV
/// 2015, arXiv:1502.01852) and fan-in + fan-out before the softmax (Glorot & Bengio, AISTATS 2010).
std::vector<float> initial_weights(std::int64_t count, std::int64_t fan, std::uint64_t seed, int layer);

}  // namespace trigram
