// Directions of rounding.
#pragma once

#include <array>
#include <cfenv>
#include <cstddef>

#include "ptx/execution/lanes.hpp"
#include "ptx/instruction.hpp"

namespace trigram::ptx {

/// In the order in which instructions name them: rn, rz, rm, rp.
constexpr std::array<int, 4> rounding_modes = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

/// Rounds so while it lives, and to nearest even afterwards.
class RoundingMode {
 public:
  explicit RoundingMode(int mode) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(FE_TONEAREST); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;
};

/// Runs a handler, whose operands and results are in memory, with another rounding mode.
template <Handler handler, std::size_t mode>
void rounded(Lanes& lanes, const Instruction& instruction) {
  const RoundingMode kept(rounding_modes[mode]);
  handler(lanes, instruction);
}

/// The handler that rounds in the direction of this index.
template <Handler handler>
Handler rounded_by(std::size_t mode) {
  constexpr std::array<Handler, 4> handlers = {handler, rounded<handler, 1>, rounded<handler, 2>, rounded<handler, 3>};
  return handlers[mode];
}

}  // namespace trigram::ptx
