// Conversions that begin with floating-point numbers.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ptx/instructions/conversion/conversion.hpp"
#include "ptx/instructions/conversion/float_values.hpp"
#include "ptx/instructions/conversion/rounding.hpp"

namespace trigram::ptx {

namespace from_float {

/// In the order rni, rzi, rmi, rpi.
template <std::size_t rounding, class T>
T whole(T x) {
  if constexpr (rounding == 0) return std::nearbyint(x);
  if constexpr (rounding == 1) return std::trunc(x);
  if constexpr (rounding == 2) return std::floor(x);
  return std::ceil(x);
}

/// As wide as arithmetic needs it; only f32 is flushed.
template <bool flushes, class From>
auto widened(From x) {
  if constexpr (std::is_same_v<From, double>) return x;
  if constexpr (std::is_same_v<From, float>) return flushed<flushes>(x);
  if constexpr (!std::is_arithmetic_v<From>) return x.to_float();
}

/// The manual gives NaN as 0, except that f64 or results of 64 bits give the highest bit alone.
template <class To, class From>
constexpr To of_nan = std::is_same_v<From, double> || sizeof(To) == 8
                          ? static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1))
                          : To{0};

template <class To, class From, std::size_t rounding, bool flushes>
constexpr auto to_integer = [](From from) {
  using Limits = std::numeric_limits<To>;
  const double x = whole<rounding>(static_cast<double>(widened<flushes>(from)));
  if (x != x) return of_nan<To, From>;
  if (x <= static_cast<double>(Limits::min())) return Limits::min();
  if (x >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<To>(x);
};

template <class To, class From, bool flushes>
Handler integer_handler(std::size_t rounding) {
  constexpr std::array<Handler, 4> handlers = {convert_each<to_integer<To, From, 0, flushes>, To, From>,
                                               convert_each<to_integer<To, From, 1, flushes>, To, From>,
                                               convert_each<to_integer<To, From, 2, flushes>, To, From>,
                                               convert_each<to_integer<To, From, 3, flushes>, To, From>};
  return handlers[rounding];
}

template <std::size_t rounding, bool flushes, bool saturates>
constexpr auto to_whole =
    [](auto x) { return saturated<saturates>(with_canonical_nan(whole<rounding>(flushed<flushes>(x)))); };

template <class T, bool flushes, bool saturates>
Handler whole_handler(std::size_t rounding) {
  constexpr std::array<Handler, 4> handlers = {
      convert_each<to_whole<0, flushes, saturates>, T, T>, convert_each<to_whole<1, flushes, saturates>, T, T>,
      convert_each<to_whole<2, flushes, saturates>, T, T>, convert_each<to_whole<3, flushes, saturates>, T, T>};
  return handlers[rounding];
}

template <class To, class From, bool flushes, bool saturates>
constexpr auto to_float = [](From from) {
  const To to = static_cast<To>(widened<flushes>(from));
  if constexpr (std::is_same_v<To, float>) return saturated<saturates>(flushed<flushes>(with_canonical_nan(to)));
  return saturated<saturates>(to);
};

template <class To, class From, bool flushes, bool saturates, std::size_t rounding>
constexpr auto to_small_float =
    [](From from) { return To::rounded(saturated<saturates>(to_double(widened<flushes>(from))), rounding); };

template <class To, class From, bool flushes, bool saturates>
Handler float_handler(std::size_t rounding) {
  if constexpr (std::is_arithmetic_v<To>) {
    return rounded_by<convert_each<to_float<To, From, flushes, saturates>, To, From>>(rounding);
  } else {
    constexpr std::array<Handler, 4> handlers = {
        convert_each<to_small_float<To, From, flushes, saturates, 0>, To, From>,
        convert_each<to_small_float<To, From, flushes, saturates, 1>, To, From>,
        convert_each<to_small_float<To, From, flushes, saturates, 2>, To, From>,
        convert_each<to_small_float<To, From, flushes, saturates, 3>, To, From>};
    return handlers[rounding];
  }
}

}  // namespace from_float

Handler convert_float_to_integer(const Conversion& c) {
  return for_any_integer(c.to, [&]<class To>() {
    return for_any_float(c.from, [&]<class From>() {
      return c.flushes ? from_float::integer_handler<To, From, true>(c.rounding)
                       : from_float::integer_handler<To, From, false>(c.rounding);
    });
  });
}

Handler convert_to_whole(const Conversion& c) {
  using namespace from_float;
  if (c.to == f64_type)
    return c.saturates ? whole_handler<double, false, true>(c.rounding)
                       : whole_handler<double, false, false>(c.rounding);
  if (c.to != f32_type) return nullptr;
  if (c.saturates)
    return c.flushes ? whole_handler<float, true, true>(c.rounding) : whole_handler<float, false, true>(c.rounding);
  return c.flushes ? whole_handler<float, true, false>(c.rounding) : whole_handler<float, false, false>(c.rounding);
}

Handler convert_float_to_float(const Conversion& c) {
  return for_any_float(c.to, [&]<class To>() {
    return for_any_float(c.from, [&]<class From>() {
      using namespace from_float;
      if (c.saturates)
        return c.flushes ? float_handler<To, From, true, true>(c.rounding)
                         : float_handler<To, From, false, true>(c.rounding);
      return c.flushes ? float_handler<To, From, true, false>(c.rounding)
                       : float_handler<To, From, false, false>(c.rounding);
    });
  });
}

}  // namespace trigram::ptx
