#include "ptx/execution/special_registers.hpp"

namespace trigram::ptx {

namespace {

std::uint32_t value_of(SpecialRegister::Name name, const Lanes& lanes, std::uint32_t lane) {
  using enum SpecialRegister::Name;
  const Dimensions block = lanes.block->launch.block, grid = lanes.block->launch.grid, index = lanes.block->index;
  const std::uint32_t thread = lanes.first_thread + lane;
  switch (name) {
    case tid_x:
      return thread % block.x;
    case tid_y:
      return thread / block.x % block.y;
    case tid_z:
      return thread / block.x / block.y;
    case ntid_x:
      return block.x;
    case ntid_y:
      return block.y;
    case ntid_z:
      return block.z;
    case ctaid_x:
      return index.x;
    case ctaid_y:
      return index.y;
    case ctaid_z:
      return index.z;
    case nctaid_x:
      return grid.x;
    case nctaid_y:
      return grid.y;
    case nctaid_z:
      return grid.z;
    case laneid:
      return lane;
    case lanemask_eq:
      return 1U << lane;
    case lanemask_le:
      return (2U << lane) - 1;
    case lanemask_lt:
      return (1U << lane) - 1;
    case lanemask_ge:
      return all_lanes << lane;
    case lanemask_gt:
      return ~((2U << lane) - 1);
  }
  return 0;
}

}  // namespace

void set_special_registers(const Kernel& kernel, const Lanes& lanes) {
  for (const SpecialRegister& special : kernel.special_registers) {
    auto* values = lanes.values<std::uint32_t>({.offset = special.offset});
    for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) values[lane] = value_of(special.name, lanes, lane);
  }
}

}  // namespace trigram::ptx
