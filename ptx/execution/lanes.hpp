// What an instruction sees of its warp, and how it goes over its lanes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/execution/schedule.hpp"
#include "ptx/fault.hpp"
#include "ptx/grid.hpp"
#include "ptx/instruction.hpp"
#include "ptx/kernel.hpp"
#include "ptx/memory.hpp"
#include "ptx/where.hpp"

namespace trigram::ptx {

class Observer;
class StoreBuffer;

constexpr std::uint32_t all_lanes = 0xFFFFFFFF;

/// Of one lane or more. The remainder is what compilers need to know that it is one.
constexpr std::uint32_t first_lane(std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::countr_zero(lanes)) % lanes_of_warp;
}

/// What the threads of one block share.
struct BlockState {
  const Kernel& kernel;
  const Launch& launch;
  Memory& memory;
  Approximation approximation;
  /// Null where nobody is told.
  Observer* observer = nullptr;
  Dimensions index = {};
  std::vector<std::byte> shared = {};
};

/// The lanes of one warp, and which of them compute an instruction.
struct Lanes {
  /// Registers and constants, in the order of Operand::Bank.
  std::array<std::byte*, 2> banks;
  std::uint32_t active = 0;
  /// The number of lane 0 among the threads of its block.
  std::uint32_t first_thread = 0;
  /// Of all lanes, one after another.
  std::byte* local = nullptr;
  BlockState* block = nullptr;
  /// Null where all threads see each store at once.
  StoreBuffer* stores = nullptr;

  std::byte* at(const Operand& operand) const { return banks[static_cast<std::size_t>(operand.bank)] + operand.offset; }

  /// All lanes' values of an operand whose size is that of T.
  template <class T>
  T* values(const Operand& operand) const {
    return reinterpret_cast<T*>(at(operand));
  }

  /// The lanes in which a predicate is true, one bit each.
  std::uint32_t predicate(const Operand& operand) const {
    const std::uint32_t lanes = *values<std::uint32_t>(operand);
    return operand.negated ? ~lanes : lanes;
  }

  /// Sets a predicate in the active lanes.
  void set_predicate(const Operand& operand, std::uint32_t lanes) const {
    std::uint32_t& kept = *values<std::uint32_t>(operand);
    kept = (kept & ~active) | (lanes & active);
  }

  /// One of its lanes at an instruction, for messages.
  Where where(const Instruction& instruction, std::uint32_t lane) const;

  /// Throws a Fault: `check` is the tool of compute-sanitizer that would find it, `what` a clause that says what is
  /// wrong.
  [[noreturn]] void fault(const Instruction& instruction, std::uint32_t lane, const char* check,
                          const std::string& what) const;
};

/// Calls body(lane) for each of these lanes, which must not look at other lanes' results.
template <class Body>
inline void over(std::uint32_t lanes, Body body) {
  if (lanes == all_lanes) {
#pragma GCC ivdep
    for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) body(lane);
  } else {
    for (; lanes != 0; lanes &= lanes - 1) body(static_cast<std::uint32_t>(std::countr_zero(lanes)));
  }
}

template <auto function, class To, class... From, std::size_t... index>
inline void each_lane_of(Lanes& lanes, const Instruction& instruction, std::index_sequence<index...>) {
  To* to = lanes.values<To>(instruction.operands[0]);
  const std::tuple<const From*...> from(lanes.values<From>(instruction.operands[index + 1])...);
  over(
      lanes.active, [ to, from ](std::uint32_t lane) __attribute__((always_inline)) {
        to[lane] = static_cast<To>(function(std::get<index>(from)[lane]...));
      });
}

template <auto function, class To, class... From, std::size_t... index>
inline void compute(const Lanes& lanes, const Instruction& instruction, std::index_sequence<index...>) {
  To* to = lanes.values<To>(instruction.operands[0]);
  const std::tuple<const From*...> from(lanes.values<From>(instruction.operands[index + 1])...);
  over(lanes.active,
       [to, from](std::uint32_t lane) { to[lane] = static_cast<To>(function(std::get<index>(from)[lane]...)); });
}

/// The handler of an instruction whose first operand becomes a function of the others, lane by lane.
template <auto function, class To, class... From>
void each_lane(Lanes& lanes, const Instruction& instruction) {
  compute<function, To, From...>(lanes, instruction, std::index_sequence_for<From...>());
}

}  // namespace trigram::ptx
