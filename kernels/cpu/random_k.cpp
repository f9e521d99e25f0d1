// k random elements, the same on every rank: the key's rank is left out, and frames, being values alone, may be
// all-reduced. Element j of the frame is drawn from part j of the even cut of d in k parts, and all are turned by one
// random offset, so that every element is kept with probability exactly k/d.
//   scaled by d/k: unbiased, E‖x − x̂‖² = (d/k − 1)‖x‖²;  as it is: a contraction, E‖x − x̂‖² = (1 − k/d)‖x‖²
// Frame: k values as f32: 4k bytes. (Stich et al., NeurIPS 2018, arXiv:1809.07599.)
#include <algorithm>

#include "core/random.hpp"
#include "kernels/cpu/codec.hpp"
#include "kernels/cpu/kept_count.hpp"

namespace trigram {
namespace {

Philox shared_stream(Key key) {
  key.rank = 0;
  return Philox(key);
}

/// The elements that one key keeps.
class Selection {
 public:
  Selection(const Key& key, std::int64_t count, std::int64_t k)
      : philox_(shared_stream(key)), count_(count), size_(count / k), larger_(count % k), offset_(draw(k, count)) {}

  /// The index of value j of the frame.
  std::int64_t operator()(std::int64_t j) const {
    const std::int64_t begin = j * size_ + std::min(j, larger_);
    const std::int64_t index = begin + draw(j, size_ + (j < larger_ ? 1 : 0)) + offset_;
    return index < count_ ? index : index - count_;
  }

 private:
  std::int64_t draw(std::int64_t position, std::int64_t bound) const {
    return static_cast<std::int64_t>(
        philox_.below(static_cast<std::uint64_t>(position), static_cast<std::uint64_t>(bound)));
  }

  Philox philox_;
  std::int64_t count_;
  std::int64_t size_;    ///< elements of a part
  std::int64_t larger_;  ///< parts that hold one more
  std::int64_t offset_;
};

class RandomK final : public CpuCodec<RandomK> {
 public:
  explicit RandomK(Params& params)
      : kept_(params), scaled_(params.get("scaled", true, "multiply by d/k, which makes it unbiased")) {}

  std::int64_t encoded_bytes(std::int64_t count) const override { return 4 * kept_.of(count); }
  CodecProperties properties(std::int64_t count) const override {
    const double share = count == 0 ? 1.0 : static_cast<double>(kept_.of(count)) / static_cast<double>(count);
    return {.unbiased = scaled_ || share == 1.0,
            .contraction = !scaled_ || 1.0 / share - 1.0 < 1.0,
            .shared_indices = true,
            .bound = scaled_ ? 1.0 / share - 1.0 : 1.0 - share};
  }
  /// Every kept element costs 32 bytes where it stands; decoding writes zeros first.
  CodecTraffic traffic(std::int64_t count) const override {
    const std::int64_t scattered = std::min(4 * count, 32 * kept_.of(count));
    const auto encode = static_cast<double>(scattered + encoded_bytes(count));
    return {encode, encode + static_cast<double>(4 * count)};
  }

  void encode_values(Instructions, const float* values, std::uint8_t* frame, std::int64_t count, const Key& key) const {
    const std::int64_t k = kept_.of(count);
    const Selection selection(key, count, k);
    const float factor = scaled_ ? static_cast<float>(static_cast<double>(count) / static_cast<double>(k)) : 1.0F;
    for (std::int64_t j = 0; j < k; ++j) put(frame + 4 * j, factor * values[selection(j)]);
  }

  template <class Sink>
  void decode_values(Instructions, const std::uint8_t* frame, float* values, std::int64_t count, const Key& key,
                     const Sink& sink) const {
    const std::int64_t k = kept_.of(count);
    const Selection selection(key, count, k);
    if constexpr (std::is_same_v<Sink, Overwrite>) std::fill_n(values, count, 0.0F);
    for (std::int64_t j = 0; j < k; ++j) sink(load<float>(frame + 4 * j), values[selection(j)]);
  }

 private:
  KeptCount kept_;
  bool scaled_;
};

const Codecs::Registration registration("cpu/random_k",
                                        {"k random elements, the same on every rank",
                                         "Stich et al., Sparsified SGD with memory, NeurIPS 2018, arXiv:1809.07599"},
                                        [](Params& params) { return std::make_unique<RandomK>(params); });

}  // namespace
}  // namespace trigram
