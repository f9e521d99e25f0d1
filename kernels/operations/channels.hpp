// What operations over channels look at: images [samples, channels, …], whose further dimensions are the places of a
// channel, and vectors with one value a channel.
//   Sums over a channel are f64 in one order: those over the places of each sample by the lanes of scalar.hpp, as one
//   block, which go round eight sums in turn; these are added in pairs. So a GPU gives the host's bits.
#pragma once

#include <algorithm>

#include "core/step/operation.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// Lengths of such images.
struct Channels {
  std::int64_t samples = 0, channels = 0, places = 0;

  static constexpr int sums = 8;  ///< which samples go round

  explicit Channels(const TensorShape& images)
      : samples(images.dimensions[0]),
        channels(images.dimensions[1]),
        places(TensorShape{{images.dimensions.begin() + 2, images.dimensions.end()}}.count()) {}

  TRIGRAM_RULE std::int64_t begin(std::int64_t sample, std::int64_t channel) const {
    return (sample * channels + channel) * places;
  }
  /// What a sum over a channel is divided by for its mean; 1 where there is nothing.
  TRIGRAM_RULE double divisor() const {
    const std::int64_t values = samples * places;
    return static_cast<double>(values > 0 ? values : 1);
  }
};

/// Throws UsageError unless these are images of f32 with a place, and behind them vectors of f32, one value a channel.
inline void require_channels(const TensorShapes& inputs, const char* vectors) {
  for (const TensorShape& input : inputs) require(input.dtype == DType::f32, "images and ", vectors, " must be f32");
  const Dimensions& images = inputs[0].dimensions;
  require(images.size() >= 2, "images must be [samples, channels, …]");
  require(images[1] > 0 && Channels(inputs[0]).places > 0, "images must have channels, and these places");
  for (std::size_t i = 1; i < inputs.size(); ++i)
    require(inputs[i].dimensions == Dimensions{images[1]}, vectors, " must have one dimension, one value a channel");
}

/// A value with the mean of its channel subtracted and multiplied by its scale.
TRIGRAM_RULE float normalised(float value, float mean, float scale) { return (value - mean) * scale; }

/// Images to try, with as many vectors: more samples than sums, more places than lanes, rows without places of their
/// own, one sample, none.
inline std::vector<TensorShapes> channel_trials(std::size_t vectors) {
  std::vector<TensorShapes> trials;
  for (const Dimensions& images :
       {Dimensions{19, 3, 2, 3}, {2, 2, 5, 9}, {40, 5}, {1, 3, 4, 4}, {3, 2, 7}, {0, 3, 2, 2}}) {
    trials.push_back({{images}});
    trials.back().insert(trials.back().end(), vectors, {{images[1]}});
  }
  return trials;
}

}  // namespace trigram
