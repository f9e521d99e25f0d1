// top_k on host memory.
#include "kernels/codecs/top_k.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "kernels/cpu/codec.hpp"

namespace trigram {
namespace {

/// The k-th largest magnitude, and how many elements of exactly that magnitude are among the k.
struct Threshold {
  std::uint32_t magnitude = 0;
  std::int64_t ties = 0;
};

/// Radix selection on the 31 bits of the magnitude, upper digits first.
Threshold select(const float* values, std::int64_t count, std::int64_t k) {
  constexpr int shifts[] = {20, 10, 0};
  Threshold found{0, k};
  std::uint32_t decided = 0;  // the mask of digits known so far
  for (const int shift : shifts) {
    std::array<std::int64_t, 2048> histogram{};
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint32_t size = scalar::magnitude(values[i]);
      if ((size & decided) == found.magnitude) ++histogram[(size & ~decided) >> shift];
    }
    std::uint32_t digit = histogram.size() - 1;
    for (; histogram[digit] < found.ties; --digit) found.ties -= histogram[digit];
    found.magnitude |= digit << shift;
    decided = ~((1U << shift) - 1U);
  }
  return found;
}

[[noreturn]] void throw_foreign(std::int32_t index, std::int64_t count) {
  throw Error("top_k: a frame names element " + std::to_string(index) + " of " + std::to_string(count) +
              "; it is no frame of this codec");
}

class TopK final : public CpuCodec<TopK, TopKModel> {
 public:
  using CpuCodec::CpuCodec;

  void encode_values(Instructions, const float* values, std::uint8_t* frame, std::int64_t count, const Key&) const {
    ensure_indices_fit(count);
    const std::int64_t k = kept(count);
    Threshold threshold = select(values, count, k);
    std::int64_t taken = 0;
    for (std::int64_t i = 0; taken < k; ++i) {
      const std::uint32_t size = scalar::magnitude(values[i]);
      if (size < threshold.magnitude || (size == threshold.magnitude && threshold.ties-- <= 0)) continue;
      put(frame + 4 * taken, static_cast<std::int32_t>(i));
      put(frame + 4 * (k + taken), values[i]);
      ++taken;
    }
  }

  template <class Sink>
  void decode_values(Instructions, const std::uint8_t* frame, float* values, std::int64_t count, const Key&,
                     const Sink& sink) const {
    const std::int64_t k = kept(count);
    if constexpr (std::is_same_v<Sink, Overwrite>) std::fill_n(values, count, 0.0F);
    for (std::int64_t j = 0; j < k; ++j) {
      const auto index = load<std::int32_t>(frame + 4 * j);
      if (index < 0 || index >= count) throw_foreign(index, count);
      sink(load<float>(frame + 4 * (k + j)), values[index]);
    }
  }
};

const Codecs::Registration registration("cpu/top_k", TopKModel::description(),
                                        [](Params& params) { return std::make_unique<TopK>(params); });

}  // namespace
}  // namespace trigram
