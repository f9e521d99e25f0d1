#include "ptx/instructions/floating.hpp"

#include <cmath>
#include <map>

#include "core/values/error.hpp"
#include "ptx/execution/lanes.hpp"
#include "ptx/instructions/approximate.hpp"
#include "ptx/instructions/choose.hpp"
#include "ptx/instructions/conversion/float_values.hpp"
#include "ptx/instructions/conversion/rounding.hpp"

namespace trigram::ptx {

namespace floating {

struct Add {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  static T of(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <class T>
  static T of(T a, T b) {
    return a / b;
  }
};
struct MultiplyAdd {
  template <class T>
  static T of(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct SquareRoot {
  template <class T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  static T of(T a) {
    return T{1} / a;
  }
};

/// Which modifiers an instruction has.
struct Modifiers {
  std::size_t rounding = 0;
  bool flushes = false, saturates = false;
};

/// What is left of a function between its modifiers.
template <class Function, bool flushes, bool saturates>
constexpr auto modified = []<class... T>(T... from) {
  return saturated<saturates>(flushed<flushes>(with_canonical_nan(Function::of(flushed<flushes>(from)...))));
};

template <class Function, class T, class... From>
Handler handler_of(Modifiers m) {
  if constexpr (std::is_same_v<T, float>) {
    if (m.flushes && m.saturates) return rounded_by<each_lane<modified<Function, true, true>, T, From...>>(m.rounding);
    if (m.flushes) return rounded_by<each_lane<modified<Function, true, false>, T, From...>>(m.rounding);
    if (m.saturates) return rounded_by<each_lane<modified<Function, false, true>, T, From...>>(m.rounding);
  }
  return rounded_by<each_lane<modified<Function, false, false>, T, From...>>(m.rounding);
}

Modifiers take_flush_and_saturate(Decoding& d, Type type) {
  Modifiers m;
  if (type == f32_type) {
    m.flushes = d.take("ftz");
    m.saturates = d.take("sat");
  }
  return m;
}

void take_operands(Decoding& d, Type type, std::size_t sources) {
  d.destination(type);
  for (std::size_t i = 0; i < sources; ++i) d.source(type);
}

/// Rounding to nearest may go unsaid.
template <class Function>
void decode_sum(Decoding& d, Type type) {
  Modifiers m = take_flush_and_saturate(d, type);
  m.rounding = d.take_any({"rn", "rz", "rm", "rp"}).value_or(0);
  d.instruction().handler = for_float(type, [&]<class T>() { return handler_of<Function, T, T, T>(m); });
  take_operands(d, type, 2);
}

/// Those that have an approximate form too, and so have to say how they round.
template <class Function, std::size_t sources>
void decode_rounded(Decoding& d, Type type) {
  Modifiers m = take_flush_and_saturate(d, type);
  require(!m.saturates || sources == 3, "it does not saturate");
  m.rounding = d.take_one({"rn", "rz", "rm", "rp"});
  d.instruction().handler = for_float(type, [&]<class T>() {
    if constexpr (sources == 1) {
      return handler_of<Function, T, T>(m);
    } else if constexpr (sources == 2) {
      return handler_of<Function, T, T, T>(m);
    } else {
      return handler_of<Function, T, T, T, T>(m);
    }
  });
  take_operands(d, type, sources);
}

void decode_reciprocal(Decoding& d, Type type) {
  if (d.take("approx")) return decode_approximate_reciprocal(d, type);
  decode_rounded<Reciprocal, 1>(d, type);
}

/// Of two zeros the negative one is less; a NaN counts only beside another, or where it `spreads`.
template <bool is_least, bool spreads, bool flushes>
constexpr auto extreme = []<class T>(T a, T b) {
  a = flushed<flushes>(a);
  b = flushed<flushes>(b);
  if (a != a || b != b) return spreads || (a != a && b != b) ? canonical_nan(a) : a != a ? b : a;
  if (a == b) return std::signbit(a) == is_least ? a : b;
  return (a < b) == is_least ? a : b;
};

template <bool is_least>
void decode_extreme(Decoding& d, Type type) {
  const bool flushes = type == f32_type && d.take("ftz");
  const bool spreads = type == f32_type && d.take("NaN");
  d.instruction().handler = for_float(type, [&]<class T>() -> Handler {
    if (spreads)
      return flushes ? each_lane<extreme<is_least, true, true>, T, T, T>
                     : each_lane<extreme<is_least, true, false>, T, T, T>;
    return flushes ? each_lane<extreme<is_least, false, true>, T, T, T>
                   : each_lane<extreme<is_least, false, false>, T, T, T>;
  });
  take_operands(d, type, 2);
}

template <bool flushes>
constexpr auto absolute = [](auto a) { return std::fabs(flushed<flushes>(a)); };
template <bool flushes>
constexpr auto negate = [](auto a) { return -flushed<flushes>(a); };

/// The sign of the first operand with the magnitude of the second.
constexpr auto with_sign_of = [](auto a, auto b) { return std::copysign(b, a); };

void decode_copied_sign(Decoding& d, Type type) {
  d.instruction().handler = for_float(type, []<class T>() -> Handler { return each_lane<with_sign_of, T, T, T>; });
  take_operands(d, type, 2);
}

void decode_sign(Decoding& d, Type type) {
  const bool flushes = type == f32_type && d.take("ftz");
  const bool is_absolute = d.opcode() == "abs";
  d.instruction().handler = for_float(type, [&]<class T>() -> Handler {
    if (is_absolute) return flushes ? each_lane<absolute<true>, T, T> : each_lane<absolute<false>, T, T>;
    return flushes ? each_lane<negate<true>, T, T> : each_lane<negate<false>, T, T>;
  });
  take_operands(d, type, 1);
}

}  // namespace floating

void decode_floating(Decoding& decoding, Type type) {
  using namespace floating;
  using Decode = void (*)(Decoding&, Type);
  static const std::map<std::string_view, Decode> decoders = {{"add", decode_sum<Add>},
                                                              {"sub", decode_sum<Subtract>},
                                                              {"mul", decode_sum<Multiply>},
                                                              {"fma", decode_rounded<MultiplyAdd, 3>},
                                                              {"mad", decode_rounded<MultiplyAdd, 3>},
                                                              {"div", decode_rounded<Divide, 2>},
                                                              {"sqrt", decode_rounded<SquareRoot, 1>},
                                                              {"rcp", decode_reciprocal},
                                                              {"ex2", decode_power_of_two},
                                                              {"min", decode_extreme<true>},
                                                              {"max", decode_extreme<false>},
                                                              {"abs", decode_sign},
                                                              {"neg", decode_sign},
                                                              {"copysign", decode_copied_sign}};
  const auto found = decoders.find(decoding.opcode());
  require(found != decoders.end(), "the interpreter does not know it for floating-point numbers");
  require(type == f32_type || type == f64_type, "the interpreter knows it for f32 and f64");
  found->second(decoding, type);
}

}  // namespace trigram::ptx
