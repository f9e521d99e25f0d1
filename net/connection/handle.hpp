// What a listener tells its peer by way of NCCL: where it listens, and by what both know each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/abi.hpp"
#include "net/connection/address.hpp"

namespace trigram::net {

using Token = std::array<std::uint8_t, 16>;

/// Drawn from the system's random numbers. Throws Error where there are none.
Token random_token();
/// In a time that does not depend on where they differ.
bool same_token(const Token& one, const Token& other);

/// Who knows `asks` may connect; who answers with `answers` is the listener.
struct Handle {
  Token asks{};
  Token answers{};
  std::vector<Address> addresses;
};

using HandleBytes = std::span<std::byte, abi::handle_bytes>;

/// Leaves out addresses that find no room: twelve of IPv4 do.
void write_handle(const Handle& handle, HandleBytes bytes);
/// Nothing if it is no handle of this plugin.
std::optional<Handle> read_handle(std::span<const std::byte, abi::handle_bytes> bytes);

}  // namespace trigram::net
