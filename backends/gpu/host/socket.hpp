// A TCP connection with deadlines.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "backends/gpu/host/store.hpp"

namespace trigram::gpu {

/// Owns a file descriptor of a socket. Errors are BackendErrors.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;

  /// Listens on all addresses; port 0 is any free one. Throws UsageError when the port is taken.
  static Socket listen_on(int port);
  /// Tries again with growing pauses until `seconds` have passed. Throws BackendError.
  static Socket connect_to(const std::string& host, int port, double seconds);

  bool open() const { return descriptor_ >= 0; }
  int port() const;
  /// The next connection; a closed Socket once this one was shut.
  Socket accept();
  /// Ends every call that waits on this socket, in whichever thread.
  void shut();
  /// Reads and writes give up after so many seconds; 0: never.
  void give_up_after(double seconds);

  void write(std::span<const std::byte> bytes);
  /// Fills `bytes`; false when the other end closed before the first one.
  bool read(std::span<std::byte> bytes);

  /// A length and that many bytes. A frame longer than `limit` is refused.
  void write_frame(const Bytes& bytes);
  bool read_frame(Bytes& bytes, std::uint64_t limit);

 private:
  int descriptor_ = -1;
};

}  // namespace trigram::gpu
