// Conversions that begin with integers.
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "ptx/instructions/conversion/conversion.hpp"
#include "ptx/instructions/conversion/float_values.hpp"
#include "ptx/instructions/conversion/rounding.hpp"

namespace trigram::ptx {

namespace from_integer {

template <class To>
constexpr auto truncate = [](auto x) { return static_cast<To>(x); };

template <class To>
constexpr auto clamp = [](auto x) {
  using Limits = std::numeric_limits<To>;
  if (std::cmp_less(x, Limits::min())) return Limits::min();
  if (std::cmp_greater(x, Limits::max())) return Limits::max();
  return static_cast<To>(x);
};

/// Its sign is all that a saturated integer keeps: 0 or 1.
template <class To, bool saturates>
constexpr auto to_float = [](auto x) { return saturated<saturates>(static_cast<To>(x)); };

template <class To, bool saturates, std::size_t rounding>
constexpr auto to_small_float =
    [](auto x) { return To::rounded(saturated<saturates>(static_cast<double>(x)), rounding); };

template <class To, class From>
Handler rounded_handler(const Conversion& c) {
  if constexpr (std::is_arithmetic_v<To>) {
    return c.saturates ? rounded_by<convert_each<to_float<To, true>, To, From>>(c.rounding)
                       : rounded_by<convert_each<to_float<To, false>, To, From>>(c.rounding);
  } else {
    constexpr std::array<Handler, 4> handlers = {
        convert_each<to_small_float<To, false, 0>, To, From>, convert_each<to_small_float<To, false, 1>, To, From>,
        convert_each<to_small_float<To, false, 2>, To, From>, convert_each<to_small_float<To, false, 3>, To, From>};
    // Those of 64 bits would be rounded twice where they become a double, which shows in formats that reach so far.
    const bool is_exact = sizeof(From) < 8 || std::is_same_v<To, Half>;
    return c.saturates || !is_exact ? nullptr : handlers[c.rounding];
  }
}

}  // namespace from_integer

Handler convert_integer_to_integer(const Conversion& c) {
  return for_any_integer(c.to, [&]<class To>() {
    return for_any_integer(c.from, [&]<class From>() -> Handler {
      if (c.saturates) return convert_each<from_integer::clamp<To>, To, From>;
      return convert_each<from_integer::truncate<To>, To, From>;
    });
  });
}

Handler convert_integer_to_float(const Conversion& c) {
  return for_any_float(c.to, [&]<class To>() {
    return for_any_integer(c.from, [&]<class From>() { return from_integer::rounded_handler<To, From>(c); });
  });
}

}  // namespace trigram::ptx
