// The smallest and the largest value of a vector, in one pass.
#include "kernels/cpu/codecs/minmax_range.hpp"

namespace trigram {
namespace {

constexpr int lanes = 32;

struct LaneRanges {
  float smallest[lanes];
  float largest[lanes];
  std::uint32_t magnitude[lanes];
};

TRIGRAM_RULE void widen(LaneRanges& ranges, int lane, float value) {
  ranges.smallest[lane] = value < ranges.smallest[lane] ? value : ranges.smallest[lane];
  ranges.largest[lane] = value > ranges.largest[lane] ? value : ranges.largest[lane];
  const std::uint32_t size = scalar::magnitude(value);
  ranges.magnitude[lane] = size > ranges.magnitude[lane] ? size : ranges.magnitude[lane];
}

ValueRange combined(const LaneRanges& ranges) {
  float smallest = ranges.smallest[0];
  float largest = ranges.largest[0];
  bool finite = true;
  for (int lane = 0; lane < lanes; ++lane) {
    if (ranges.smallest[lane] < smallest) smallest = ranges.smallest[lane];
    if (ranges.largest[lane] > largest) largest = ranges.largest[lane];
    finite = finite && ranges.magnitude[lane] < scalar::infinity_bits;
  }
  return minmax_header(smallest, largest, finite);
}

}  // namespace

ValueRange value_range(Instructions instructions, const float* values, std::int64_t count) {
  LaneRanges ranges{};
  for (int lane = 0; lane < lanes; ++lane) ranges.smallest[lane] = ranges.largest[lane] = values[0];
  vectorised(instructions, [=, &ranges]() TRIGRAM_INLINE {
    LaneRanges local = ranges;
    const std::int64_t whole = count - count % lanes;
    for (std::int64_t i = 0; i < whole; i += lanes) {
      for (int lane = 0; lane < lanes; ++lane) widen(local, lane, values[i + lane]);
    }
    for (std::int64_t i = whole; i < count; ++i) widen(local, static_cast<int>(i - whole), values[i]);
    ranges = local;
  });
  return combined(ranges);
}

}  // namespace trigram
