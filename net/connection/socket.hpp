// A socket that never blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "net/connection/interfaces.hpp"

struct iovec;

namespace trigram::net {

/// How a transfer ended that could not go on.
enum class Moved { some, nothing_yet, closed, timed_out, malformed };

/// What the kernel knows of a connection.
struct Measured {
  std::uint32_t round_trip_us = 0;
  std::uint32_t least_round_trip_us = 0;  ///< lately, with the least before it in queues
  std::uint64_t acknowledged = 0;         ///< bytes
  /// Bytes per second that it delivered lately; nothing where it had too little to send: what finds a shaper's bucket
  /// full comes faster than anything that follows.
  std::optional<double> rate;
};

/// Owns a descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;

  /// At the address, a free port, which it then has. Throws Error.
  static Socket listening(Address& address);
  /// Begins to connect, through that interface. Not open where that cannot be.
  static Socket connecting(const Interface& from, const Address& to);
  /// One that has come, or none.
  Socket accept() const;

  bool open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  void close();

  /// Whether it has connected; `closed` where nobody listens, `timed_out` where no way leads there.
  Moved connected() const;
  /// What data it carries: small things at once, little that waits unsent, an end where nothing is acknowledged for so
  /// long.
  void prepare(std::size_t unsent, double timeout) const;

  /// Where both ends are this host's nothing is lost, and nothing is spread over time.
  void hurry_within_host() const;

  /// No more than so many bytes wait in the kernel before they are sent.
  void limit_unsent(std::size_t bytes) const;

  /// Adds what was moved to `bytes`.
  Moved send(std::span<const iovec> parts, std::size_t& bytes) const;
  Moved receive(std::span<iovec> parts, std::size_t& bytes) const;

  Measured measured() const;
  /// Bytes that were written and are not acknowledged.
  std::size_t unacknowledged() const;
  /// Both ends: "10.0.0.1 - 10.0.0.2".
  std::string ends() const;

 private:
  int descriptor_ = -1;
};

}  // namespace trigram::net
