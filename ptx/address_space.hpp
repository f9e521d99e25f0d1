// Where state spaces lie among the addresses that name any of them.
#pragma once

#include <cstdint>

namespace trigram::ptx {

enum class Space : std::uint8_t { generic, global, shared, local, parameters };

/// No host has memory at these addresses.
constexpr std::uint64_t shared_window = 0x8001'0000'0000'0000, local_window = 0x8002'0000'0000'0000,
                        parameter_window = 0x8003'0000'0000'0000, window_bytes = 0x0001'0000'0000'0000;

/// What is added to an address in a space to have a generic one.
constexpr std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared:
      return shared_window;
    case Space::local:
      return local_window;
    case Space::parameters:
      return parameter_window;
    default:
      return 0;
  }
}

/// The space in which a generic address lies.
constexpr Space space_of(std::uint64_t address) {
  for (const Space space : {Space::shared, Space::local, Space::parameters}) {
    if (address - window_of(space) < window_bytes) return space;
  }
  return Space::global;
}

}  // namespace trigram::ptx
