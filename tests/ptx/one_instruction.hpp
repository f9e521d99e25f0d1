// Kernels around one instruction, and what it makes of its operands.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "ptx/execution/schedule.hpp"
#include "ptx/where.hpp"

namespace trigram::ptx {

/// What a register holds: an integer's bits, or those of a float that is written as one.
struct Bits {
  template <std::integral T>
  constexpr Bits(T integer) : value(static_cast<std::uint64_t>(integer)) {}
  constexpr Bits(float x) : value(std::bit_cast<std::uint32_t>(x)) {}
  constexpr Bits(double x) : value(std::bit_cast<std::uint64_t>(x)) {}

  /// Stands, as a result, for all NaN of a format, which is named by the bits of its infinity.
  static constexpr Bits any_nan(std::uint64_t infinity) {
    Bits bits(0);
    bits.infinity = infinity;
    return bits;
  }

  std::uint64_t value = 0, infinity = 0;
};

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
constexpr double nan_f64 = std::numeric_limits<double>::quiet_NaN(),
                 infinity_f64 = std::numeric_limits<double>::infinity();
constexpr std::uint64_t most_negative = 0x8000000000000000, most_positive = 0x7fffffffffffffff;
constexpr Bits any_nan_f16 = Bits::any_nan(0x7c00), any_nan_bf16 = Bits::any_nan(0x7f80),
               any_nan_f32 = Bits::any_nan(0x7f800000), any_nan_f64 = Bits::any_nan(0x7ff0000000000000);

/// What one lane's registers 1, 2, ... hold before, and 0, 9 after the instruction; a register's bits, zeros above.
using Inputs = std::vector<Bits>;
struct Outcome {
  std::uint64_t first = 0, second = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Runs the lines of `body`, mostly one instruction, in as many lanes of one block as `lanes` has. Registers carry
/// nvcc's names: %p1 predicates, %rs1 of 16 bits, %r1 of 32, %rd1 of 64, %f1 f32, %fd1 f64. Those with the numbers 1 to
/// 7 hold the lane's inputs, all with 0 are 0x55... or true before. A body that names %rd8 finds there the address of
/// `data`.
std::vector<Outcome> run(const std::string& body, std::span<const Inputs> lanes, std::span<std::byte> data = {},
                         Schedule schedule = {});

/// The same in one lane.
Outcome run(const std::string& body, const Inputs& inputs, Schedule schedule = {});

/// One instruction, what it is given, and what it has to make of it in register 0, and 9 where it is named.
struct Row {
  std::string body;
  Inputs inputs;
  std::vector<Bits> results;
};

/// Runs each row in one lane; what fails is named with its instruction and its inputs.
void expect_rows(std::initializer_list<Row> rows);

/// Whether a register's bits are as expected, in the register's width.
bool agrees(std::uint64_t bits, const Bits& expected, const std::string& body, int number);

}  // namespace trigram::ptx
