// One block of a convolutional network: convolution, batch normalisation or a bias, pooling, ReLU.
#pragma once

#include <optional>

#include "core/step/operation.hpp"
#include "experiments/workloads/networks/network.hpp"

namespace trigram {

/// Images of one sample between two layers.
struct ChannelImages {
  std::int64_t channels = 0, height = 0, width = 0;

  std::int64_t count() const { return channels * height * width; }
  Dimensions of(std::int64_t samples) const { return {samples, channels, height, width}; }
};

/// Filters of 3×3 with a padding of 1, batch norm or a bias of channels, the largest of each 2×2 pixels, and ReLU,
/// which comes last since it then sees a quarter of the pixels and gives the same. Parameters are filters, gain and
/// shift, or filters and bias; filters alone decay. The caller owns what goes in and comes out; what lies between is
/// the block's.
class ConvolutionBlock {
 public:
  ConvolutionBlock(ChannelImages images, std::int64_t filters, bool normalises)
      : images_(images), convolved_{filters, images.height, images.width}, normalises_(normalises) {}

  ChannelImages result() const { return {convolved_.channels, convolved_.height / 2, convolved_.width / 2}; }
  std::vector<Parameter> parameters(int layer) const;
  /// Gain begins at 1, shift and bias at 0.
  std::vector<std::vector<float>> initial(std::uint64_t seed, int layer) const;
  /// Elements that lie between what goes in and what comes out, with their gradients.
  std::int64_t elements_a_sample() const { return (normalises_ ? 4 : 2) * convolved_.count(); }

  void allocate(Device& device, std::int64_t rows, bool with_gradients);
  void forward(Device& device, std::span<const Buffer> weights, const Buffer& images, const Buffer& result,
               std::int64_t rows);
  /// `slope` is the gradient of the result, and overwritten; that of the images goes to `below`, unless it is empty.
  void backward(Device& device, std::span<const ParameterView> parameters, const Buffer& images, const Buffer& result,
                const Buffer& slope, const Buffer& below);
  /// Batch norm goes on with mean and scale of the last forward.
  void freeze_statistics() { frozen_ = true; }

 private:
  /// The operations for so many samples.
  struct Applied {
    Applied(const Device& device, const ConvolutionBlock& block, std::int64_t samples);

    std::int64_t rows;
    AppliedOperation convolution, pool, relu;
    std::optional<AppliedOperation> norm, frozen_norm, bias;
  };
  void normalise(Device& device, std::span<const Buffer> weights);
  void differentiate_norm(Device& device, std::span<const ParameterView> parameters, const Buffer& normalised_slope);

  /// What is held of so many rows of `images`.
  static Buffer rows_of(const OwnedBuffer& all, const ChannelImages& images, std::int64_t rows) {
    return all.view().slice(0, rows * images.count());
  }
  Buffer convolved() const { return rows_of(convolved_memory_, convolved_, applied_->rows); }
  Buffer normalised() const {
    return normalises_ ? rows_of(normalised_memory_, convolved_, applied_->rows) : convolved();
  }
  Buffer places() const { return rows_of(places_, result(), applied_->rows); }

  ChannelImages images_, convolved_;
  bool normalises_;
  bool frozen_ = false;
  std::optional<Applied> applied_;
  OwnedBuffer convolved_memory_, normalised_memory_, places_, mean_, scale_, scratch_;
  OwnedBuffer convolved_slope_, normalised_slope_;
};

}  // namespace trigram
