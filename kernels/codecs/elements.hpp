// Frames that hold every element by itself, in order: f16, bf16, or f32 as it is. Every NaN becomes the same one.
#pragma once

#include "core/device/codec.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// The nearest T.
template <class T>
TRIGRAM_RULE T nearest_element(float x) {
  T nearest;
  scalar::store(x, nearest);
  return nearest;
}
template <>
TRIGRAM_RULE float nearest_element<float>(float x) {
  return scalar::with_one_nan(x);
}

/// Sizes of a frame of elements of type T: scalar::F16, scalar::BF16 or float.
template <class T>
class ElementsModel : public Codec {
 public:
  explicit ElementsModel(CodecProperties properties) : properties_(properties) {}

  std::int64_t encoded_bytes(std::int64_t count) const override { return static_cast<std::int64_t>(sizeof(T)) * count; }
  CodecProperties properties(std::int64_t) const override { return properties_; }
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(4 * count + encoded_bytes(count), encoded_bytes(count), count);
  }

 private:
  CodecProperties properties_;
};

/// IEEE binary16, nearest even. |x − x̂| ≤ 2^-11 |x| from 2^-14 to 65504 and 2^-25 under it, where values can vanish, so
/// it is no contraction on all vectors; from 65520 on it gives infinity; NaN stays.
struct Fp16 {
  using Element = scalar::F16;
  static constexpr CodecProperties properties{.bound = 1};
  static Description description() { return {"IEEE binary16, nearest even", "IEEE 754-2008"}; }
};

/// bfloat16, nearest even. |x − x̂| ≤ 2^-8 |x| for normal numbers up to 3.39e38, beyond which it gives infinity; NaN
/// stays NaN.
struct Bf16 {
  using Element = scalar::BF16;
  static constexpr CodecProperties properties{.contraction = true, .bound = 0x1p-16};
  static Description description() {
    return {"bfloat16, nearest even",
            "Kalamkar et al., A study of BFLOAT16 for deep learning training, arXiv:1905.12322"};
  }
};

/// Nothing lost: the reference that compression is compared with, through the same path.
struct Identity {
  using Element = float;
  static constexpr CodecProperties properties{.unbiased = true, .contraction = true, .shared_indices = true};
  static Description description() { return {"f32 as they are, nothing lost"}; }
};

}  // namespace trigram
