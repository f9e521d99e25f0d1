// The layers of a decoder, computed by matrix products and registered operations.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/device/device.hpp"
#include "core/step/bucket.hpp"
#include "core/step/operation.hpp"
#include "experiments/workloads/networks/decoder_parameters.hpp"

namespace trigram {

/// Memory that all layers use by turns. Only what attention computes meanwhile is there without gradients.
struct DecoderRoom {
  OwnedBuffer stream;             ///< the gradient of what passes between layers, [rows, width]
  OwnedBuffer wide;               ///< of what is inside a layer: up to four widths a row
  OwnedBuffer normal, below;      ///< of what a layer's normalisation gives, and takes
  OwnedBuffer attention_scratch;  ///< of causal_attention
};

/// One layer on so many sequences, of which each character is a row.
class DecoderLayer {
 public:
  virtual ~DecoderLayer() = default;
  /// `weights` are the layer's own; `in` is what the layer below gave, characters for the first.
  virtual void forward(Device& device, std::span<const Buffer> weights, Buffer in) = 0;
  /// Writes the gradients of the layer's own tensors, and turns room.stream from the gradient of `out` into that of
  /// `in`; the head begins with `out` turned into its gradient.
  virtual void backward(Device& device, std::span<const ParameterView> own, Buffer in) = 0;
  const Buffer& out() const { return out_.view(); }

 protected:
  explicit DecoderLayer(OwnedBuffer out) : out_(std::move(out)) {}

 private:
  OwnedBuffer out_;
};

/// Room for `sequences` of them.
DecoderRoom decoder_room(Device& device, const DecoderSizes& sizes, std::int64_t sequences, bool with_gradients);

/// The embedding, attention and feed-forward by turns, and the head. `room` outlives them. Throws UsageError where
/// sizes do not fit.
std::vector<std::unique_ptr<DecoderLayer>> decoder_layers(Device& device, const DecoderSizes& sizes,
                                                          std::int64_t sequences, const DecoderRoom& room);

}  // namespace trigram
