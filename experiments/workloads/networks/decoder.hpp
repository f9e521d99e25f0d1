// A decoder: a language model in which every character sees those before it (Radford et al., Language models are
// unsupervised multitask learners, 2019), with normalisation before each layer, ReLU, and a head of its own.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/device/device.hpp"
#include "core/step/bucket.hpp"
#include "experiments/workloads/networks/decoder_layers.hpp"
#include "experiments/workloads/networks/decoder_parameters.hpp"

namespace trigram {

/// On one device, for so many sequences. Tensors come in the order of `decoder_parameters`.
class Decoder {
 public:
  /// Throws UsageError where sizes do not fit each other.
  Decoder(Device& device, const DecoderSizes& sizes, std::int64_t sequences, bool with_gradients);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Elements of f32 that a sequence takes with its gradients.
  static double elements_a_sequence(const DecoderSizes& sizes);

  /// Where characters are put, [sequences, context] of i32.
  const Buffer& characters() const { return characters_.view(); }
  /// Of the next characters, [sequences·context, characters]; after the loss has been taken in place, their gradient.
  const Buffer& logits() const { return layers_.back()->out(); }

  void forward(Device& device, std::span<const Buffer> weights);
  /// From logits() turned into their gradient, layers from the last to the first: the gradients of one layer's tensors,
  /// and what the layer below needs. Reads that layer's weights, and no other.
  void backward(Device& device, int layer, std::span<const ParameterView> parameters);

 private:
  /// Of all tensors those of one layer.
  template <class T>
  std::span<const T> own(std::span<const T> tensors, std::size_t layer) const;
  const Buffer& below(std::size_t layer) const { return layer == 0 ? characters() : layers_[layer - 1]->out(); }

  DecoderRoom room_;
  OwnedBuffer characters_;
  std::vector<std::unique_ptr<DecoderLayer>> layers_;
};

}  // namespace trigram
