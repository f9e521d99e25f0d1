// Declarations of variables and parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trigram::ptx {

/// One variable as `.shared .align 16 .b8 name[64]` declares it; sizes are in bytes.
struct Declaration {
  std::string name;
  std::uint32_t size = 0;
  std::uint32_t alignment = 1;
  /// Whether the launch says how large it is: `name[]`.
  bool sized_by_launch = false;
};

/// Reads what follows the state space. Throws UsageError for what it does not know.
Declaration read_declaration(std::string_view text);

/// Where the next variable of that alignment begins.
constexpr std::uint32_t aligned(std::uint32_t offset, std::uint32_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace trigram::ptx
