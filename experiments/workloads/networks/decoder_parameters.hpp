// What a decoder learns: its tensors, layer by layer, and their first values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/step/bucket.hpp"

namespace trigram {

/// Sizes of a decoder, and of what it reads.
struct DecoderSizes {
  std::int64_t blocks = 1, width = 1, heads = 1;
  std::int64_t context = 1;     ///< characters of a sequence
  std::int64_t characters = 1;  ///< in the alphabet

  std::int64_t hidden() const { return 4 * width; }  ///< of a feed-forward layer
  /// The embedding, attention and feed-forward of each block, the head.
  int layers() const { return static_cast<int>(2 * blocks + 2); }
  /// Elements of all parameters; no matter how many, no overflow.
  double elements() const;
};

/// Tensors in forward order: of the embedding the table of characters and that of positions; of every other layer gain
/// and shift of its normalisation, then weight and bias of one linear map (the head) or two (attention: to queries,
/// keys and values, and from what was attended; feed-forward: up and down). A weight is [in, out]. Weights of linear
/// maps decay; embeddings, biases, gains and shifts do not.
std::vector<Parameter> decoder_parameters(const DecoderSizes& sizes);

/// Their first values, keyed by `seed`: gains 1, shifts and biases 0, all else normal. The deviation of weights is
/// 1/√in; of those that add to what passes by, 1/√(2·blocks·in), as in GPT-2 (Radford et al. 2019); of embeddings, ¼;
/// of the head, which begins with no opinion, 1/(4√in).
std::vector<std::vector<float>> initial_decoder(const DecoderSizes& sizes, std::uint64_t seed);

}  // namespace trigram
