// The first words on a connection.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "net/connection/handle.hpp"

namespace trigram::net {

constexpr int max_streams = 64;

/// What the connecting end says. The other one answers with the handle's second token.
struct Hello {
  Token asks{};        ///< the handle's
  Token connection{};  ///< the same for all streams of one communicator
  int stream = 0;
  int streams = 1;
};

constexpr std::size_t hello_bytes = 48;

void write_hello(const Hello& hello, std::span<std::byte, hello_bytes> bytes);
/// Nothing if it is no hello of this version, or has a stream that there cannot be.
std::optional<Hello> read_hello(std::span<const std::byte, hello_bytes> bytes);

}  // namespace trigram::net
