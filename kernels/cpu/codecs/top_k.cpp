// top_k on host memory.
#include "kernels/codecs/top_k.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/values/error.hpp"
#include "kernels/cpu/codecs/codec.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trigram {
namespace {

/// The k-th largest magnitude, and how many elements of exactly that magnitude are among the k.
struct Threshold {
  std::uint32_t magnitude = 0;
  std::int64_t ties = 0;
};

/// Radix selection on the 31 bits of the magnitude, upper digits first.
Threshold select(std::span<const float> values, std::int64_t k) {
  constexpr int shifts[] = {20, 10, 0};
  Threshold found{0, k};
  std::uint32_t decided = 0;  // the mask of digits known so far
  for (const int shift : shifts) {
    std::array<std::int64_t, 2048> histogram{};
    for (const float value : values) {
      const std::uint32_t size = scalar::ordered_magnitude(value);
      if ((size & decided) == found.magnitude) ++histogram[(size & ~decided) >> shift];
    }
    std::uint32_t digit = histogram.size() - 1;
    for (; histogram[digit] < found.ties; --digit) found.ties -= histogram[digit];
    found.magnitude |= digit << shift;
    decided = ~((1U << shift) - 1U);
  }
  return found;
}

/// Calls take(i) for every element whose magnitude is at least `floor`, in order, until it returns false.
template <class Take>
bool scan(const float* values, std::int64_t begin, std::int64_t count, std::uint32_t floor, const Take& take) {
  for (std::int64_t i = begin; i < count; ++i) {
    if (scalar::magnitude(values[i]) >= floor && !take(i)) return false;
  }
  return true;
}

#if defined(__x86_64__)
template <class Take>
[[gnu::target("avx2")]] bool scan_avx2(const float* values, std::int64_t count, std::uint32_t floor, const Take& take) {
  const __m256i magnitude = _mm256_set1_epi32(static_cast<std::int32_t>(scalar::magnitude_mask));
  const __m256i below = _mm256_set1_epi32(static_cast<std::int32_t>(floor) - 1);
  const std::int64_t whole = count - count % 32;
  for (std::int64_t begin = 0; begin < whole; begin += 32) {
    std::uint32_t reached = 0;
    for (int group = 0; group < 4; ++group) {
      const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + begin + 8 * group));
      const __m256i larger = _mm256_cmpgt_epi32(_mm256_and_si256(bits, magnitude), below);
      reached |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(larger))) << 8 * group;
    }
    for (; reached != 0; reached &= reached - 1) {
      if (!take(begin + std::countr_zero(reached))) return false;
    }
  }
  return scan(values, whole, count, floor, take);
}
#endif

template <class Take>
bool scan(Instructions instructions, std::span<const float> values, std::uint32_t floor, const Take& take) {
  const auto count = static_cast<std::int64_t>(values.size());
#if defined(__x86_64__)
  if (instructions == Instructions::avx2) return scan_avx2(values.data(), count, floor, take);
#endif
  return scan(values.data(), 0, count, floor, take);
}

/// A magnitude that, by a sample, a few more than k elements reach; none where too many have it exactly.
std::optional<std::uint32_t> likely_floor(std::span<const float> values, std::int64_t k) {
  constexpr std::size_t sampled = 8192;
  const std::size_t stride = values.size() / sampled;
  std::vector<std::uint32_t> sample(sampled);
  for (std::size_t i = 0; i < sampled; ++i) sample[i] = scalar::ordered_magnitude(values[i * stride]);
  const double expected = static_cast<double>(k) / static_cast<double>(stride);
  const auto rank = static_cast<std::ptrdiff_t>(expected + 4 * std::sqrt(expected) + 8);
  const auto floor = sample.begin() + rank;
  std::nth_element(sample.begin(), floor, sample.end(), std::greater<>());
  if (std::count(floor, sample.end(), *floor) > rank) return {};
  return *floor;
}

/// Elements to choose from, in order, and where they stand.
struct Candidates {
  std::vector<float> values;
  std::vector<std::int32_t> places;
};

/// All elements from some magnitude on, at least k and not many more; none where no such magnitude was found, or where
/// choosing from all is as fast.
Candidates likely_candidates(Instructions instructions, std::span<const float> values, std::int64_t k) {
  constexpr std::size_t smallest = 1U << 16U;
  const auto wanted = static_cast<std::size_t>(k);
  const std::size_t most = values.size() / 8;
  if (values.size() < smallest || wanted > most / 2) return {};
  const std::optional<std::uint32_t> floor = likely_floor(values, k);
  if (!floor) return {};
  Candidates found;
  const bool few = scan(instructions, values, *floor, [&](std::int64_t i) {
    found.values.push_back(values[static_cast<std::size_t>(i)]);
    found.places.push_back(static_cast<std::int32_t>(i));
    return found.values.size() < most;
  });
  if (!few || found.values.size() < wanted) return {};
  return found;
}

[[noreturn]] void throw_foreign(std::int32_t index, std::int64_t count) {
  throw Error("top_k: a frame names element " + std::to_string(index) + " of " + std::to_string(count) +
              "; it is no frame of this codec");
}

/// The frame of the k largest of `values`; place(i) says where element i stands in the vector.
template <class Place>
void write_largest(Instructions instructions, std::span<const float> values, std::int64_t k, std::uint8_t* frame,
                   const Place& place) {
  Threshold threshold = select(values, k);
  std::int64_t taken = 0;
  scan(instructions, values, threshold.magnitude, [&](std::int64_t i) {
    const float value = values[static_cast<std::size_t>(i)];
    if (scalar::ordered_magnitude(value) == threshold.magnitude && threshold.ties-- <= 0) return true;
    put(frame + 4 * taken, place(i));
    put(frame + 4 * (k + taken), scalar::with_one_nan(value));
    return ++taken < k;
  });
}

class TopK final : public CpuCodec<TopK, TopKModel> {
 public:
  using CpuCodec::CpuCodec;

  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    ensure_indices_fit(count);
    const std::int64_t k = kept(count);
    const std::span all(values, static_cast<std::size_t>(count));
    const Candidates likely = likely_candidates(instructions, all, k);
    if (likely.values.empty()) {
      write_largest(instructions, all, k, frame, [](std::int64_t i) { return static_cast<std::int32_t>(i); });
    } else {
      write_largest(instructions, likely.values, k, frame,
                    [&](std::int64_t i) { return likely.places[static_cast<std::size_t>(i)]; });
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
