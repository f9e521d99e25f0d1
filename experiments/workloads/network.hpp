// A feed-forward network of fully connected layers, computed by matrix products and registered operations.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/bucket.hpp"
#include "core/device.hpp"
#include "core/operation.hpp"

namespace trigram {

/// Layer l maps widths[l] features to widths[l + 1] by x·W + b, W of widths[l] × widths[l + 1], row-major; every layer
/// but the last ends in a ReLU. Parameters are weight 0, bias 0, weight 1, …; biases do not decay.
class Network {
 public:
  explicit Network(std::vector<std::int64_t> widths) : widths_(std::move(widths)) {}

  int layers() const { return static_cast<int>(widths_.size()) - 1; }
  std::vector<Parameter> parameters() const;
  /// "64-32-10".
  std::string shape() const;

  /// Initial values of all parameters, keyed by `seed`: weights uniform in ±√(6 / fan-in) before a ReLU (He et al.,
  /// ICCV 2015, arXiv:1502.01852) and in ±√(6 / (fan-in + fan-out)) before the softmax (Glorot & Bengio, AISTATS 2010);
  /// biases zero.
  std::vector<std::vector<float>> initial(std::uint64_t seed) const;

  /// Makes room for `rows` samples.
  void allocate(Device& device, std::int64_t rows, bool with_gradients);
  /// Where the features of the batch are put.
  Buffer input() const { return activations_.front(); }
  /// Elements that a sample takes in activations and their gradients.
  double elements_a_sample() const {
    return 2.0 * static_cast<double>(std::accumulate(widths_.begin(), widths_.end(), std::int64_t{0}));
  }
  /// Logits of the last forward; after the loss has been taken in place, their gradient.
  Buffer logits() const { return activations_.back(); }

  /// Computes the logits of `rows` samples from input(); `rows` may be less than there is room for.
  void forward(Device& device, std::span<const Buffer> weights, std::int64_t rows);
  /// From logits() turned into their gradient: the gradients of one layer's weight and bias, and what the layer below
  /// needs. Reads the layer's weight, and no other.
  void backward(Device& device, int layer, const ParameterView& weight, const ParameterView& bias);

 private:
  std::int64_t in(int layer) const {
    return widths_[static_cast<std::size_t>(layer)];
  }  // of the last layer + 1: classes
  std::int64_t out(int layer) const { return widths_[static_cast<std::size_t>(layer) + 1]; }
  Buffer activation(int layer) const;
  Buffer gradient(int layer) const;
  /// Makes the operations of every layer for that many rows.
  void apply(const Device& device, std::int64_t rows);

  std::vector<std::int64_t> widths_;
  std::int64_t rows_ = 0;
  std::vector<AppliedOperation> biases_;  ///< by layer, for `rows_`
  std::vector<AppliedOperation> relus_;   ///< by layer, except the last
  std::vector<OwnedBuffer> activations_;  ///< by layer: its input; the last one holds the logits
  std::vector<OwnedBuffer> gradients_;    ///< of the same, except the features and the logits
};

}  // namespace trigram
