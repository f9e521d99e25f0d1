#include "net/connection/handle.hpp"

#include <netinet/in.h>
#include <sys/random.h>

#include <algorithm>
#include <cstring>

#include "net/error.hpp"

namespace trigram::net {
namespace {

constexpr std::array<char, 8> magic = {'t', 'r', 'i', 'g', 'r', 'a', 'm', '1'};
constexpr std::size_t tokens_at = magic.size();
constexpr std::size_t count_at = tokens_at + 2 * sizeof(Token);

/// Family as 4 or 6, port, host.
std::size_t bytes_of(const Address& address) { return 3 + address.host().size(); }

}  // namespace

Token random_token() {
  Token token;
  if (getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size()))
    throw_system_error("no random numbers");
  return token;
}

bool same_token(const Token& one, const Token& other) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) difference |= static_cast<unsigned>(one[i] ^ other[i]);
  return difference == 0;
}

void write_handle(const Handle& handle, HandleBytes bytes) {
  std::ranges::fill(bytes, std::byte{0});
  std::memcpy(bytes.data(), magic.data(), magic.size());
  std::memcpy(bytes.data() + tokens_at, handle.asks.data(), sizeof(Token));
  std::memcpy(bytes.data() + tokens_at + sizeof(Token), handle.answers.data(), sizeof(Token));
  std::size_t at = count_at + 1;
  std::uint8_t count = 0;
  for (const auto& address : handle.addresses) {
    if (at + bytes_of(address) > bytes.size()) break;
    const std::uint16_t port = address.port();
    bytes[at] = std::byte(address.family() == AF_INET ? 4 : 6);
    std::memcpy(&bytes[at + 1], &port, 2);
    std::memcpy(&bytes[at + 3], address.host().data(), address.host().size());
    at += bytes_of(address);
    ++count;
  }
  bytes[count_at] = std::byte(count);
}

std::optional<Handle> read_handle(std::span<const std::byte, abi::handle_bytes> bytes) {
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) return std::nullopt;
  Handle handle;
  std::memcpy(handle.asks.data(), bytes.data() + tokens_at, sizeof(Token));
  std::memcpy(handle.answers.data(), bytes.data() + tokens_at + sizeof(Token), sizeof(Token));
  std::size_t at = count_at + 1;
  for (int left = std::to_integer<int>(bytes[count_at]); left > 0; --left) {
    if (at >= bytes.size()) return std::nullopt;
    const int version = std::to_integer<int>(bytes[at]);
    if (version != 4 && version != 6) return std::nullopt;
    Address address;
    address.storage.ss_family = static_cast<sa_family_t>(version == 4 ? AF_INET : AF_INET6);
    if (at + bytes_of(address) > bytes.size()) return std::nullopt;
    std::uint16_t port = 0;
    std::memcpy(&port, &bytes[at + 1], 2);
    address.set_port(port);
    std::memcpy(address.host().data(), &bytes[at + 3], address.host().size());
    at += bytes_of(address);
    handle.addresses.push_back(address);
  }
  if (handle.addresses.empty()) return std::nullopt;
  return handle;
}

}  // namespace trigram::net
