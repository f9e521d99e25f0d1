// QSGD (Alistarh et al., NeurIPS 2017, arXiv:1610.02132), by buckets: with a = s|x_i|/‖x‖ of a bucket of b elements,
// level ⌊a⌋ + 1 with probability a − ⌊a⌋, else ⌊a⌋;  x̂_i = sgn(x_i)·level·‖x‖/s.
//   unbiased; the variance of an element is (‖x‖/s)² f(1 − f), f = frac(a); bound min(b/s², √b/s) with the 2-norm,
//   min(b/(4s²), √b/s) with the max-norm. Rounded to nearest instead: biased, ‖x − x̂‖² ≤ b/(4s²)‖x‖².
// Frame: one f32 norm a bucket, then a code an element, sign in the lowest bit and level above it, of
// w = 1 + ⌈log₂(s+1)⌉ bits without gaps: 4⌈d/b⌉ + ⌈d·w/8⌉ bytes. A bucket with a NaN, an infinity or a norm that f32
// cannot hold decodes to NaN.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/random.hpp"
#include "kernels/cpu/bit_packing.hpp"
#include "kernels/cpu/codec.hpp"
#include "kernels/cpu/philox_words.hpp"
#include "kernels/cpu/tree_sum.hpp"

namespace trigram {
namespace {

/// Elements that are coded at once; their codes end at a whole byte.
constexpr std::int64_t tile = 1024;

TRIGRAM_RULE float finite_or_nan(float norm) {
  return scalar::magnitude(norm) < scalar::infinity_bits ? norm : std::numeric_limits<float>::quiet_NaN();
}

TRIGRAM_RULE float two_norm(const float* values, std::int64_t count) {
  const double squares = tree_sum(
      count, [values](std::int64_t i) __attribute__((always_inline)) {
        return static_cast<double>(values[i]) * static_cast<double>(values[i]);
      });
  return finite_or_nan(static_cast<float>(std::sqrt(squares)));
}

TRIGRAM_RULE float max_norm(const float* values, std::int64_t count) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, scalar::magnitude(values[i]));
  return finite_or_nan(scalar::from_bits(largest));
}

class Qsgd final : public CpuCodec<Qsgd> {
 public:
  explicit Qsgd(Params& params)
      : levels_(params.get("levels", 127, "levels s beside 0, of either sign")),
        bucket_(params.get("bucket_size", std::int64_t{512}, "elements that share a norm; 0: all")),
        stochastic_(params.get("stochastic", true, "round at random, which makes it unbiased")) {
    const std::string norm = params.get("norm", "2", "norm of a bucket: 2 or max");
    require(levels_ >= 1 && levels_ <= 32767,
            params.owner() + ": levels=" + std::to_string(levels_) + " is not between 1 and 32767");
    require(bucket_ >= 0, params.owner() + ": bucket_size=" + std::to_string(bucket_) + " is negative");
    require(norm == "2" || norm == "max", params.owner() + ": norm=" + norm + " is neither 2 nor max");
    max_norm_ = norm == "max";
  }

  std::int64_t encoded_bytes(std::int64_t count) const override {
    return header_bytes(count) + packed_bytes(count, width());
  }
  CodecProperties properties(std::int64_t count) const override {
    const auto size = static_cast<double>(bucket_ == 0 ? count : std::min(count, bucket_));
    const double step = 1.0 / levels_;
    if (!stochastic_) return {.contraction = size * step * step / 4 < 1, .bound = size * step * step / 4};
    const double bound = std::min(size * step * step / (max_norm_ ? 4 : 1), std::sqrt(size) * step);
    return {.unbiased = true, .contraction = bound < 1, .bound = bound};
  }
  /// A bucket is read once where it fits into fast memory, else twice.
  CodecTraffic traffic(std::int64_t count) const override {
    const int reads = bucket_ > 0 && bucket_ <= 8192 ? 1 : 2;
    return {static_cast<double>(4 * reads * count + encoded_bytes(count)),
            static_cast<double>(encoded_bytes(count) + 4 * count)};
  }

  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key& key) const {
    const Philox philox(key);
    vectorised(instructions, [this, values, frame, count, &philox]() TRIGRAM_INLINE {
      write_norms(values, frame, count);
      std::uint8_t* packed = frame + header_bytes(count);
      for (std::int64_t begin = 0; begin < count; begin += tile) {
        const std::int64_t size = std::min(tile, count - begin);
        alignas(64) std::uint32_t codes[tile];
        if (stochastic_) philox_words(philox, static_cast<std::uint64_t>(begin / 4), (size + 3) / 4, codes);
        for_buckets(begin, size, frame, count, [&](std::int64_t from, std::int64_t to, float norm) TRIGRAM_INLINE {
          encode_run(values + begin, from, to, norm, codes);
        });
        pack(codes, size, packed + begin * width() / 8);
      }
    });
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    vectorised(instructions, [this, frame, values, count, &sink]() TRIGRAM_INLINE {
      const std::uint8_t* packed = frame + header_bytes(count);
      for (std::int64_t begin = 0; begin < count; begin += tile) {
        const std::int64_t size = std::min(tile, count - begin);
        alignas(64) std::uint32_t codes[tile];
        unpack(packed + begin * width() / 8, size, codes);
        for_buckets(begin, size, frame, count, [&](std::int64_t from, std::int64_t to, float norm) TRIGRAM_INLINE {
          const float step = norm / static_cast<float>(levels_);
          for (std::int64_t i = from; i < to; ++i) {
            const float size_of_value = step * static_cast<float>(static_cast<std::int32_t>(codes[i] >> 1U));
            sink(scalar::from_bits(scalar::bits_of(size_of_value) | codes[i] << 31U), values[begin + i]);
          }
        });
      }
    });
  }

 private:
  int width() const { return 1 + std::bit_width(static_cast<unsigned>(levels_)); }
  std::int64_t bucket_of(std::int64_t count) const { return bucket_ == 0 ? std::max<std::int64_t>(count, 1) : bucket_; }
  std::int64_t header_bytes(std::int64_t count) const {
    return 4 * ((count + bucket_of(count) - 1) / bucket_of(count));
  }

  TRIGRAM_RULE void write_norms(const float* values, std::uint8_t* frame, std::int64_t count) const {
    const std::int64_t bucket = bucket_of(count);
    for (std::int64_t begin = 0; begin < count; begin += bucket, frame += 4) {
      const std::int64_t size = std::min(bucket, count - begin);
      put(frame, max_norm_ ? max_norm(values + begin, size) : two_norm(values + begin, size));
    }
  }

  /// Calls body(from, to, norm) for the runs of one tile that share a norm.
  template <class Body>
  TRIGRAM_RULE void for_buckets(std::int64_t begin, std::int64_t size, const std::uint8_t* frame, std::int64_t count,
                                const Body& body) const {
    const std::int64_t bucket = bucket_of(count);
    for (std::int64_t from = 0; from < size;) {
      const std::int64_t index = (begin + from) / bucket;
      const std::int64_t to = std::min(size, (index + 1) * bucket - begin);
      body(from, to, load<float>(frame + 4 * index));
      from = to;
    }
  }

  /// codes[i], which holds a random word, becomes the code of values[i]. A draw of ½ without randomness rounds to
  /// nearest.
  TRIGRAM_RULE void encode_run(const float* values, std::int64_t from, std::int64_t to, float norm,
                               std::uint32_t* codes) const {
    const auto levels = static_cast<float>(levels_);
    if (stochastic_) {
      for (std::int64_t i = from; i < to; ++i) {
        const auto draw = static_cast<float>(static_cast<std::int32_t>(codes[i] >> 8U)) * 0x1p-24F;
        codes[i] = scalar::qsgd_level(values[i], norm, levels, draw) << 1U | scalar::bits_of(values[i]) >> 31U;
      }
    } else {
      for (std::int64_t i = from; i < to; ++i) {
        codes[i] = scalar::qsgd_level(values[i], norm, levels, 0.5F) << 1U | scalar::bits_of(values[i]) >> 31U;
      }
    }
  }

  TRIGRAM_RULE void pack(const std::uint32_t* codes, std::int64_t count, std::uint8_t* bytes) const {
    if (width() != 8) return pack_bits(codes, count, width(), bytes);
    for (std::int64_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(codes[i]);
  }
  TRIGRAM_RULE void unpack(const std::uint8_t* bytes, std::int64_t count, std::uint32_t* codes) const {
    if (width() != 8) return unpack_bits(bytes, count, width(), codes);
    for (std::int64_t i = 0; i < count; ++i) codes[i] = bytes[i];
  }

  int levels_;
  std::int64_t bucket_;
  bool stochastic_;
  bool max_norm_ = false;
};

const Codecs::Registration registration("cpu/qsgd",
                                        {"random rounding to s levels of a bucket's norm",
                                         "Alistarh et al., QSGD, NeurIPS 2017, arXiv:1610.02132"},
                                        [](Params& params) { return std::make_unique<Qsgd>(params); });

}  // namespace
}  // namespace trigram
