// A feed-forward network of fully connected layers, computed by matrix products and registered operations.
#pragma once

#include <numeric>

#include "core/step/operation.hpp"
#include "experiments/workloads/networks/network.hpp"

namespace trigram {

/// Layer l maps widths[l] features to widths[l + 1] by x·W + b, W of widths[l] × widths[l + 1], row-major; every layer
/// but the last ends in a ReLU. Parameters are weight 0, bias 0, weight 1, …; biases do not decay.
class FullyConnected final : public Network {
 public:
  explicit FullyConnected(std::vector<std::int64_t> widths) : widths_(std::move(widths)) {}
  /// From the features of a data set over `hidden` widths to its classes.
  static MakeNetwork over(std::vector<std::int64_t> hidden);

  int layers() const override { return static_cast<int>(widths_.size()) - 1; }
  std::vector<Parameter> parameters() const override;
  std::string shape() const override;
  /// Biases begin at zero.
  std::vector<std::vector<float>> initial(std::uint64_t seed) const override;
  double elements_a_sample() const override {
    return 2.0 * static_cast<double>(std::accumulate(widths_.begin(), widths_.end(), std::int64_t{0}));
  }

  void allocate(Device& device, std::int64_t rows, bool with_gradients) override;
  Buffer input() const override { return activations_.front(); }
  Buffer logits() const override { return activations_.back(); }
  void forward(Device& device, std::span<const Buffer> weights, std::int64_t rows) override;
  void backward(Device& device, int layer, std::span<const ParameterView> parameters) override;

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
