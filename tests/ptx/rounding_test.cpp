// Rounding, held to its definition by exact rational numbers: no float between the result and the exact value, and on
// the right side of it.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "tests/ptx/one_instruction.hpp"

namespace trigram::ptx {
namespace {

using Exact = boost::multiprecision::cpp_rational;

template <class T>
Exact exact(T x) {
  int exponent = 0;
  const auto fraction = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  const boost::multiprecision::cpp_int power = boost::multiprecision::cpp_int(1) << std::abs(exponent - 53);
  return exponent > 53 ? Exact(fraction * power) : Exact(fraction, power);
}

/// Whether T's value `x` is what `mode` makes of `value`, which is within the range of T.
template <class T>
bool is_rounded(T x, const Exact& value, const std::string& mode) {
  const Exact low = exact(std::nextafter(x, -std::numeric_limits<T>::infinity()));
  const Exact high = exact(std::nextafter(x, std::numeric_limits<T>::infinity()));
  const Exact here = exact(x);
  if (mode == "rm" || (mode == "rz" && value > 0)) return here <= value && value < high;
  if (mode == "rp" || mode == "rz") return low < value && value <= here;
  const bool even = std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(x) % 2 == 0;
  const Exact below = (low + here) / 2, above = (here + high) / 2;
  return below <= value && value <= above && (even || (below < value && value < above));
}

/// Floats whose bits are few, or all, or any: sums and products of them often lie halfway between two others.
template <class T>
T hard(std::mt19937_64& random, int least_exponent, int greatest_exponent) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const std::uint64_t one = std::uint64_t{1} << (digits - 1);
  std::uint64_t fraction = random() % one;
  if (const std::uint64_t kind = random() % 4; kind == 0) {
    fraction = std::uint64_t{1} << random() % (digits - 1);
  } else if (kind == 1) {
    fraction = one - 1 - random() % 2;
  } else if (kind == 2) {
    fraction &= ~std::uint64_t{0} << digits / 2;
  }
  const auto range = static_cast<std::uint64_t>(greatest_exponent - least_exponent + 1);
  const int exponent = least_exponent + static_cast<int>(random() % range);
  const T magnitude = std::ldexp(static_cast<T>(one + fraction), exponent - digits + 1);
  return random() % 2 == 0 ? magnitude : -magnitude;
}

template <class T>
T value_of(const Bits& bits) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits.value));
  if constexpr (sizeof(T) == 8) return std::bit_cast<double>(bits.value);
}

/// An instruction that takes floats of type T, and what it computes before it rounds.
struct Operation {
  std::string name;
  std::size_t operands;
  std::function<Exact(const std::vector<Exact>&)> value;
};

const std::vector<Operation> operations = {
    {"add", 2, [](const std::vector<Exact>& x) { return Exact(x[0] + x[1]); }},
    {"sub", 2, [](const std::vector<Exact>& x) { return Exact(x[0] - x[1]); }},
    {"mul", 2, [](const std::vector<Exact>& x) { return Exact(x[0] * x[1]); }},
    {"fma", 3, [](const std::vector<Exact>& x) { return Exact(x[0] * x[1] + x[2]); }},
    {"div", 2, [](const std::vector<Exact>& x) { return Exact(x[0] / x[1]); }},
    {"rcp", 1, [](const std::vector<Exact>& x) { return Exact(1 / x[0]); }}};

const std::vector<std::string> modes = {"rn", "rz", "rm", "rp"};

template <class T>
void expect_rounded(const Operation& operation, const std::string& mode, int least_exponent, int greatest_exponent) {
  const std::string type = sizeof(T) == 4 ? "f32" : "f64", family = sizeof(T) == 4 ? "%f" : "%fd";
  std::string body = operation.name + "." + mode + "." + type + " " + family + "0";
  for (std::size_t i = 1; i <= operation.operands; ++i) body += ", " + family + std::to_string(i);
  std::mt19937_64 random(operation.name.front() + static_cast<unsigned>(greatest_exponent));
  std::vector<Inputs> lanes(32 * 16);
  for (Inputs& lane : lanes) {
    while (lane.size() < operation.operands) lane.emplace_back(hard<T>(random, least_exponent, greatest_exponent));
  }
  const std::vector<Outcome> outcomes = run(body + ";", lanes);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    std::vector<Exact> operands;
    std::string said = body + " of";
    for (const Bits& input : lanes[lane]) {
      operands.push_back(exact(value_of<T>(input)));
      said += " " + hexadecimal(input.value);
    }
    ASSERT_TRUE(is_rounded(value_of<T>(outcomes[lane].first), operation.value(operands), mode))
        << said << " gives " << hexadecimal(outcomes[lane].first);
  }
}

TEST(PtxRounding, ArithmeticOfF32) {
  for (const Operation& operation : operations) {
    for (const std::string& mode : modes) {
      expect_rounded<float>(operation, mode, -3, 20);
      expect_rounded<float>(operation, mode, -80, -50);
    }
  }
}

TEST(PtxRounding, ArithmeticOfF64) {
  for (const Operation& operation : operations) {
    for (const std::string& mode : modes) {
      expect_rounded<double>(operation, mode, -3, 40);
      expect_rounded<double>(operation, mode, -540, -500);
    }
  }
}

TEST(PtxRounding, SquareRootsLieBetweenSquares) {
  std::mt19937_64 random(7);
  std::vector<Inputs> lanes;
  for (int i = 0; i < 512; ++i)
    lanes.push_back({std::abs(hard<float>(random, -149, 120)), std::abs(hard<double>(random, -1060, 1000))});
  for (const std::string& mode : modes) {
    const std::vector<Outcome> roots = run("sqrt." + mode + ".f32 %f0, %f1;\nsqrt." + mode + ".f64 %fd9, %fd2;", lanes);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const auto squared = [&](auto root, auto x) {
        const auto infinity = std::numeric_limits<decltype(root)>::infinity();
        const Exact low = exact(std::nextafter(root, -infinity)), here = exact(root),
                    high = exact(std::nextafter(root, infinity));
        if (mode == "rn") return (low + here) * (low + here) < 4 * x && 4 * x < (here + high) * (here + high);
        return mode == "rp" ? low * low < x && x <= here * here : here * here <= x && x < high * high;
      };
      ASSERT_TRUE(squared(value_of<float>(roots[lane].first), exact(value_of<float>(lanes[lane][0]))))
          << "sqrt." << mode << ".f32 of " << hexadecimal(lanes[lane][0].value);
      ASSERT_TRUE(squared(value_of<double>(roots[lane].second), exact(value_of<double>(lanes[lane][1]))))
          << "sqrt." << mode << ".f64 of " << hexadecimal(lanes[lane][1].value);
    }
  }
}

/// The first results of a conversion, each against its exact value.
template <class T>
void expect_converted(const std::string& instruction, const std::string& mode, const std::vector<Inputs>& lanes,
                      const std::function<Exact(std::uint64_t)>& value) {
  const std::vector<Outcome> outcomes = run(instruction, lanes);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    ASSERT_TRUE(is_rounded(value_of<T>(outcomes[lane].first), value(lanes[lane][0].value), mode))
        << instruction << " of " << hexadecimal(lanes[lane][0].value) << " gives " << hexadecimal(outcomes[lane].first);
  }
}

TEST(PtxRounding, Conversions) {
  std::mt19937_64 random(11);
  std::vector<Inputs> doubles, integers;
  for (int i = 0; i < 512; ++i) {
    doubles.push_back({hard<double>(random, i % 2 == 0 ? -149 : -4, i % 2 == 0 ? -126 : 100)});
    const std::uint64_t bits = random();
    integers.push_back({bits >> random() % 40});
  }
  for (std::size_t i = 0; i < 512; i += 4) {
    // Odd numbers of one bit more than a float has lie halfway between two.
    integers[i] = {(0x1000001 + 2 * (random() % 0x7fffff)) << i % 7};
    integers[i + 1] = {0x20000000000001 + 2 * (random() % 0xfffffffffffff)};
  }
  const auto as_signed = [](std::uint64_t bits) { return Exact(static_cast<std::int64_t>(bits)); };
  const auto as_unsigned = [](std::uint64_t bits) { return Exact(bits); };
  const auto as_s32 = [](std::uint64_t bits) { return Exact(static_cast<std::int32_t>(bits)); };
  const auto as_u32 = [](std::uint64_t bits) { return Exact(static_cast<std::uint32_t>(bits)); };
  for (const std::string& mode : modes) {
    expect_converted<float>("cvt." + mode + ".f32.f64 %f0, %fd1;", mode, doubles,
                            [](std::uint64_t bits) { return exact(std::bit_cast<double>(bits)); });
    expect_converted<float>("cvt." + mode + ".f32.s32 %f0, %r1;", mode, integers, as_s32);
    expect_converted<float>("cvt." + mode + ".f32.u32 %f0, %r1;", mode, integers, as_u32);
    expect_converted<float>("cvt." + mode + ".f32.s64 %f0, %rd1;", mode, integers, as_signed);
    expect_converted<float>("cvt." + mode + ".f32.u64 %f0, %rd1;", mode, integers, as_unsigned);
    expect_converted<double>("cvt." + mode + ".f64.s64 %fd0, %rd1;", mode, integers, as_signed);
    expect_converted<double>("cvt." + mode + ".f64.u64 %fd0, %rd1;", mode, integers, as_unsigned);
    expect_converted<double>("cvt." + mode + ".f64.u32 %fd0, %r1;", mode, integers, as_u32);
  }
}

}  // namespace
}  // namespace trigram::ptx
