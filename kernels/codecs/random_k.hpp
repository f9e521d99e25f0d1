// k random elements, the same on every rank: the key's rank is left out, and frames, being values alone, may be
// all-reduced. Element j of the frame is drawn from part j of the even cut of d in k parts, and all are turned by one
// random offset, so that every element is kept with probability exactly k/d.
//   scaled by d/k: unbiased, E‖x − x̂‖² = (d/k − 1)‖x‖²;  as it is: a contraction, E‖x − x̂‖² = (1 − k/d)‖x‖²
// Frame: k values as f32: 4k bytes. (Stich et al., NeurIPS 2018, arXiv:1809.07599.)
#pragma once

#include <algorithm>

#include "core/device/codec.hpp"
#include "kernels/codecs/kept_count.hpp"
#include "kernels/philox.hpp"

namespace trigram {

/// The elements that one key keeps: k ≥ 1 of `count`.
class RandomSelection {
 public:
  /// Room for one, which keeps nothing: tables of them are filled later.
  RandomSelection() = default;
  RandomSelection(Key key, std::int64_t count, std::int64_t k)
      : stream_((key.rank = 0, Philox(key))),
        count_(count),
        size_(count / k),
        larger_(count % k),
        rejected_(rejected(size_)),
        rejected_of_larger_(rejected(size_ + 1)),
        offset_(draw(k, count, rejected(count))) {}

  /// The index of value j of the frame.
  TRIGRAM_RULE std::int64_t operator()(std::int64_t j) const {
    const bool larger = j < larger_;
    const std::int64_t begin = j * size_ + (larger ? j : larger_);
    const std::int64_t inside = draw(j, size_ + (larger ? 1 : 0), larger ? rejected_of_larger_ : rejected_);
    const std::int64_t index = begin + inside + offset_;
    return index < count_ ? index : index - count_;
  }

 private:
  static std::uint64_t rejected(std::int64_t bound) {
    const auto positive = static_cast<std::uint64_t>(bound);
    return (0 - positive) % positive;
  }
  TRIGRAM_RULE std::int64_t draw(std::int64_t position, std::int64_t bound, std::uint64_t rejected) const {
    return static_cast<std::int64_t>(
        philox_below(stream_, static_cast<std::uint64_t>(position), static_cast<std::uint64_t>(bound), rejected));
  }

  PhiloxStream stream_;
  std::int64_t count_ = 0;
  std::int64_t size_ = 0;    ///< elements of a part
  std::int64_t larger_ = 0;  ///< parts that hold one more
  std::uint64_t rejected_ = 0, rejected_of_larger_ = 0;
  std::int64_t offset_ = 0;
};

/// Parameters and sizes of the frame.
class RandomKModel : public Codec {
 public:
  explicit RandomKModel(Params& params)
      : kept_(params), scaled_(params.get("scaled", true, "multiply by d/k, which makes it unbiased")) {}
  static Description description() {
    return {"k random elements, the same on every rank",
            "Stich et al., Sparsified SGD with memory, NeurIPS 2018, arXiv:1809.07599"};
  }

  std::int64_t encoded_bytes(std::int64_t count) const override { return 4 * kept(count); }
  CodecProperties properties(std::int64_t count) const override {
    const double share = count == 0 ? 1.0 : static_cast<double>(kept(count)) / static_cast<double>(count);
    return {.unbiased = scaled_ || share == 1.0,
            .contraction = !scaled_ || 1.0 / share - 1.0 < 1.0,
            .shared_indices = true,
            .bound = scaled_ ? 1.0 / share - 1.0 : 1.0 - share};
  }
  /// Every kept element costs 32 bytes where it stands; decoding writes zeros first.
  CodecTraffic traffic(std::int64_t count) const override {
    const std::int64_t scattered = std::min(4 * count, 32 * kept(count));
    const auto encode = static_cast<double>(scattered + encoded_bytes(count));
    return {encode, encode + static_cast<double>(4 * count), encode + static_cast<double>(scattered)};
  }

 protected:
  std::int64_t kept(std::int64_t count) const { return kept_.of(count); }
  /// What a kept value is multiplied by.
  float factor(std::int64_t count) const {
    return scaled_ ? static_cast<float>(static_cast<double>(count) / static_cast<double>(kept(count))) : 1.0F;
  }

 private:
  KeptCount kept_;
  bool scaled_;
};

}  // namespace trigram
