// A convolutional network: blocks of convolution and pooling, and a fully connected layer to the classes.
#pragma once

#include <optional>

#include "experiments/workloads/networks/convolution_block.hpp"

namespace trigram {

/// How the channels of a block are brought to a scale.
enum class ChannelNorm : std::uint8_t { none, batch };

/// One block a number of channels; each halves height and width, an odd pixel dropped. The layer above maps what is
/// left to logits by x·W + b. With batch norm a rank trains by the statistics of its own batch, as PyTorch's
/// DistributedDataParallel does; no running averages are kept (see network_score).
class Convolutional final : public Network {
 public:
  /// Throws UsageError, which names `owner`, where images are too small for so many blocks.
  Convolutional(const std::string& owner, ImageSize image, const std::vector<std::int64_t>& channels, ChannelNorm norm,
                std::int64_t classes);

  int layers() const override { return static_cast<int>(blocks_.size()) + 1; }
  std::vector<Parameter> parameters() const override;
  /// "28x28-16-32-10".
  std::string shape() const override;
  std::vector<std::vector<float>> initial(std::uint64_t seed) const override;
  double elements_a_sample() const override;

  void allocate(Device& device, std::int64_t rows, bool with_gradients) override;
  Buffer input() const override { return activations_.front(); }
  Buffer logits() const override { return activations_.back(); }
  void forward(Device& device, std::span<const Buffer> weights, std::int64_t rows) override;
  void backward(Device& device, int layer, std::span<const ParameterView> parameters) override;
  bool has_statistics() const override { return norm_ == ChannelNorm::batch; }
  void freeze_statistics() override;

 private:
  std::size_t parameters_a_block() const { return norm_ == ChannelNorm::batch ? 3 : 2; }
  /// What goes into a layer, of the rows of the last forward; behind the last one the logits.
  Buffer activation(std::size_t layer) const { return activations_[layer].view().slice(0, rows_ * widths_[layer]); }
  Buffer gradient(std::size_t layer) const {
    return layer == blocks_.size() + 1 ? activation(layer) : gradients_[layer].view().slice(0, rows_ * widths_[layer]);
  }
  void classify(Device& device, const Buffer& weight, const Buffer& bias);
  void differentiate_classes(Device& device, const ParameterView& weight, const ParameterView& bias);

  ImageSize image_;
  ChannelNorm norm_;
  std::vector<ConvolutionBlock> blocks_;
  std::vector<std::int64_t> widths_;  ///< elements of a sample that go into each layer, and classes
  std::int64_t rows_ = 0;
  std::optional<AppliedOperation> bias_;  ///< of the classes, for `rows_`
  std::vector<OwnedBuffer> activations_, gradients_;
};

}  // namespace trigram
