#include "ptx/instructions/approximate.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/values/error.hpp"
#include "ptx/execution/lanes.hpp"
#include "ptx/instructions/conversion/float_values.hpp"

namespace trigram::ptx {

namespace approximate {

/// At the end of the bound that lies towards zero or away from it, as f32. Exact results of the limits stay.
float bounded(double exact, double relative_error, bool upper) {
  if (exact == 0 || !std::isfinite(exact)) return static_cast<float>(exact);
  const double end = exact * (upper ? 1 + relative_error : 1 - relative_error);
  const float nearest = static_cast<float>(end);
  const bool is_outside = upper ? std::fabs(nearest) > std::fabs(end) : std::fabs(nearest) < std::fabs(end);
  return is_outside ? std::nextafter(nearest, static_cast<float>(exact)) : nearest;
}

template <bool upper, bool flushes>
constexpr auto power_of_two = [](float a) {
  const float from = flushed<flushes>(a);
  if (std::fabs(from) < std::numeric_limits<float>::min()) return 1.0F;
  return flushed<flushes>(with_canonical_nan(bounded(std::exp2(static_cast<double>(from)), 0x1p-22, upper)));
};

template <bool upper, bool flushes>
constexpr auto reciprocal = [](float a) {
  const double exact = 1 / static_cast<double>(flushed<flushes>(a));
  return flushed<flushes>(with_canonical_nan(bounded(exact, 0x1p-23, upper)));
};

constexpr std::uint64_t upper_half = 0xFFFFFFFF00000000;

double flushed_upper_half(std::uint64_t bits) { return flushed<true>(std::bit_cast<double>(bits & upper_half)); }

/// The two numbers with 20 bits of mantissa between which 1/a lies.
template <bool upper>
constexpr auto reciprocal_of_upper_half = [](double a) {
  if (a != a) return std::bit_cast<double>(0x7FFFFFFF00000000);
  const double exact = 1 / flushed_upper_half(std::bit_cast<std::uint64_t>(a));
  const auto bits = std::bit_cast<std::uint64_t>(exact);
  const bool is_between = std::isfinite(exact) && (bits & ~upper_half) != 0;
  return flushed_upper_half(bits + (upper && is_between ? ~upper_half + 1 : 0));
};

template <Handler lower, Handler upper>
void by_schedule(Lanes& lanes, const Instruction& instruction) {
  (lanes.block->approximation == Approximation::upper ? upper : lower)(lanes, instruction);
}

}  // namespace approximate

void decode_power_of_two(Decoding& d, Type type) {
  using namespace approximate;
  require(type == f32_type && d.take("approx"), "the interpreter knows it as ex2.approx for f32");
  d.instruction().handler = d.take("ftz") ? by_schedule<each_lane<power_of_two<false, true>, float, float>,
                                                        each_lane<power_of_two<true, true>, float, float>>
                                          : by_schedule<each_lane<power_of_two<false, false>, float, float>,
                                                        each_lane<power_of_two<true, false>, float, float>>;
  d.destination(type);
  d.source(type);
}

void decode_approximate_reciprocal(Decoding& d, Type type) {
  using namespace approximate;
  const bool flushes = d.take("ftz");
  require(flushes || type == f32_type, "rcp.approx.f64 flushes subnormal numbers to zero: .ftz");
  d.instruction().handler = type == f64_type ? by_schedule<each_lane<reciprocal_of_upper_half<false>, double, double>,
                                                           each_lane<reciprocal_of_upper_half<true>, double, double>>
                            : flushes        ? by_schedule<each_lane<reciprocal<false, true>, float, float>,
                                                    each_lane<reciprocal<true, true>, float, float>>
                                             : by_schedule<each_lane<reciprocal<false, false>, float, float>,
                                                    each_lane<reciprocal<true, false>, float, float>>;
  d.destination(type);
  d.source(type);
}

}  // namespace trigram::ptx
