// The k elements of largest magnitude; the lower index first where magnitudes are equal, NaN above all.
//   ‖x − x̂‖² = the sum of the d − k smallest squares ≤ (1 − k/d)‖x‖²
// Frame: k indices as i32 in rising order, then k values as f32: 8k bytes. (Stich et al., NeurIPS 2018,
// arXiv:1809.07599.)
#include <algorithm>
#include <array>
#include <limits>

#include "core/error.hpp"
#include "kernels/cpu/codec.hpp"
#include "kernels/cpu/kept_count.hpp"

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

class TopK final : public CpuCodec<TopK> {
 public:
  explicit TopK(Params& params) : kept_(params) {}

  std::int64_t encoded_bytes(std::int64_t count) const override { return 8 * kept_.of(count); }
  CodecProperties properties(std::int64_t count) const override {
    const auto share = count == 0 ? 1.0 : static_cast<double>(kept_.of(count)) / static_cast<double>(count);
    return {.contraction = true, .bound = 1.0 - share};
  }
  /// Encoding reads once to select and once to collect; decoding writes zeros, then 32 bytes around each value.
  CodecTraffic traffic(std::int64_t count) const override {
    const std::int64_t scattered = std::min(4 * count, 32 * kept_.of(count));
    return {static_cast<double>(8 * count + encoded_bytes(count)),
            static_cast<double>(encoded_bytes(count) + 4 * count + scattered)};
  }

  void encode_values(Instructions, const float* values, std::uint8_t* frame, std::int64_t count, const Key&) const {
    ensure(count <= std::numeric_limits<std::int32_t>::max(),
           "top_k: " + std::to_string(count) + " elements are more than i32 indices can name");
    const std::int64_t k = kept_.of(count);
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
    const std::int64_t k = kept_.of(count);
    if constexpr (std::is_same_v<Sink, Overwrite>) std::fill_n(values, count, 0.0F);
    for (std::int64_t j = 0; j < k; ++j) {
      const auto index = load<std::int32_t>(frame + 4 * j);
      if (index < 0 || index >= count) throw_foreign(index, count);
      sink(load<float>(frame + 4 * (k + j)), values[index]);
    }
  }

 private:
  KeptCount kept_;
};

const Codecs::Registration registration("cpu/top_k",
                                        {"the k elements of largest magnitude",
                                         "Stich et al., Sparsified SGD with memory, NeurIPS 2018, arXiv:1809.07599"},
                                        [](Params& params) { return std::make_unique<TopK>(params); });

}  // namespace
}  // namespace trigram
