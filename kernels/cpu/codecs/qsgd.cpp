// qsgd on host memory, a tile of codes at a time; norms just before the first tile that needs them.
#include "kernels/codecs/qsgd.hpp"

#include <algorithm>

#include "core/values/random.hpp"
#include "kernels/codecs/bit_packing.hpp"
#include "kernels/cpu/codecs/codec.hpp"
#include "kernels/cpu/philox_words.hpp"
#include "kernels/cpu/tree_sum.hpp"

namespace trigram {
namespace {

/// Elements that are coded at once; their codes end at a whole byte, their random words with a group of blocks.
constexpr std::int64_t tile = 1536;
static_assert(tile % 8 == 0 && tile % philox_words_at_once == 0);

TRIGRAM_RULE float two_norm(const float* values, std::int64_t count) {
  const double squares = tree_sum(
      count, [values](std::int64_t i) __attribute__((always_inline)) {
        return static_cast<double>(values[i]) * static_cast<double>(values[i]);
      });
  return qsgd_two_norm(squares);
}

TRIGRAM_RULE float largest_magnitude(const float* values, std::int64_t count) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, scalar::magnitude(values[i]));
  return qsgd_finite_or_nan(scalar::from_bits(largest));
}

/// Has memory bring values while others are coded.
TRIGRAM_RULE void fetch(const float* values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 16) __builtin_prefetch(values + i);
}

class Qsgd final : public CpuCodec<Qsgd, QsgdModel> {
 public:
  using CpuCodec::CpuCodec;

  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key& key) const {
    const PhiloxStream stream{Philox(key)};
    vectorised(instructions, [this, instructions, values, frame, count, &stream]() TRIGRAM_INLINE {
      std::uint8_t* packed = frame + header_bytes(count);
      std::int64_t normed = 0;  // elements whose buckets have a norm in the frame
      for (std::int64_t begin = 0; begin < count; begin += tile) {
        const std::int64_t size = std::min(tile, count - begin);
        while (normed < begin + size) normed = write_norm(values, normed, frame, count);
        fetch(values + begin + size, std::min(tile, count - begin - size));
        alignas(64) std::uint32_t codes[tile];
        if (stochastic()) {
          philox_words(instructions, stream, static_cast<std::uint64_t>(begin / 4), (size + 3) / 4, codes);
        }
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
          const float step = norm / static_cast<float>(levels());
          for (std::int64_t i = from; i < to; ++i) {
            sink(qsgd_value(codes[i], step), values[begin + i]);
          }
        });
      }
    });
  }

 private:
  /// Writes the norm of the bucket that begins at `begin`; returns its end.
  TRIGRAM_RULE std::int64_t write_norm(const float* values, std::int64_t begin, std::uint8_t* frame,
                                       std::int64_t count) const {
    const std::int64_t bucket = bucket_of(count);
    const std::int64_t size = std::min(bucket, count - begin);
    put(frame + begin / bucket * 4,
        max_norm() ? largest_magnitude(values + begin, size) : two_norm(values + begin, size));
    return begin + size;
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
    const auto levels = static_cast<float>(this->levels());
    if (stochastic()) {
      for (std::int64_t i = from; i < to; ++i) codes[i] = qsgd_code(values[i], norm, levels, qsgd_draw(codes[i]));
    } else {
      for (std::int64_t i = from; i < to; ++i) codes[i] = qsgd_code(values[i], norm, levels, 0.5F);
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
};

const Codecs::Registration registration("cpu/qsgd", QsgdModel::description(),
                                        [](Params& params) { return std::make_unique<Qsgd>(params); });

}  // namespace
}  // namespace trigram
