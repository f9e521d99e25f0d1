// The layers of a decoder, one after the other.
#include "experiments/workloads/networks/decoder.hpp"

namespace trigram {

Decoder::Decoder(Device& device, const DecoderSizes& sizes, std::int64_t sequences, bool with_gradients)
    : room_(decoder_room(device, sizes, sequences, with_gradients)),
      characters_(device.allocate(Shape::of(sequences * sizes.context, DType::i32))),
      layers_(decoder_layers(device, sizes, sequences, room_)) {}

double Decoder::elements_a_sequence(const DecoderSizes& sizes) {
  constexpr double normalised = 2;  // mean and scale
  const auto width = static_cast<double>(sizes.width), context = static_cast<double>(sizes.context);
  const auto blocks = static_cast<double>(sizes.blocks), heads = static_cast<double>(sizes.heads);
  const double of_a_block = 12 * width + 2 * normalised, of_ends = 2 * width + normalised + 1;
  const double gradients = 7 * width;
  return context * (blocks * of_a_block + of_ends + static_cast<double>(sizes.characters) + gradients) +
         (blocks + 1) * heads * context * context;
}

template <class T>
std::span<const T> Decoder::own(std::span<const T> tensors, std::size_t layer) const {
  constexpr std::size_t embedded = 2, inside = 6;
  if (layer == 0) return tensors.first(embedded);
  const std::span<const T> rest = tensors.subspan(embedded + inside * (layer - 1));
  return layer + 1 == layers_.size() ? rest : rest.first(inside);
}

void Decoder::forward(Device& device, std::span<const Buffer> weights) {
  for (std::size_t layer = 0; layer < layers_.size(); ++layer)
    layers_[layer]->forward(device, own(weights, layer), below(layer));
}

void Decoder::backward(Device& device, int layer, std::span<const ParameterView> parameters) {
  const auto index = static_cast<std::size_t>(layer);
  layers_[index]->backward(device, own(parameters, index), below(index));
}

}  // namespace trigram
