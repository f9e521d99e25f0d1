#include "net/connection/hello.hpp"

#include <array>
#include <cstring>

namespace trigram::net {
namespace {

constexpr std::array<char, 8> magic = {'T', 'R', 'G', 'M', 'N', 'E', 'T', '1'};

struct Layout {
  std::array<char, 8> magic;
  Token asks;
  Token connection;
  std::uint32_t stream;
  std::uint32_t streams;
};
static_assert(sizeof(Layout) == hello_bytes);

}  // namespace

void write_hello(const Hello& hello, std::span<std::byte, hello_bytes> bytes) {
  const Layout layout{magic, hello.asks, hello.connection, static_cast<std::uint32_t>(hello.stream),
                      static_cast<std::uint32_t>(hello.streams)};
  std::memcpy(bytes.data(), &layout, hello_bytes);
}

std::optional<Hello> read_hello(std::span<const std::byte, hello_bytes> bytes) {
  Layout layout;
  std::memcpy(&layout, bytes.data(), hello_bytes);
  if (layout.magic != magic || layout.streams < 1 || layout.streams > max_streams || layout.stream >= layout.streams) {
    return std::nullopt;
  }
  return Hello{layout.asks, layout.connection, static_cast<int>(layout.stream), static_cast<int>(layout.streams)};
}

}  // namespace trigram::net
