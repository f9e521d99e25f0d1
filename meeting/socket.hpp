// A TCP connection with deadlines.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "meeting/store/store.hpp"

namespace trigram {

/// Owns a file descriptor of a socket. Errors are BackendErrors.
class Socket {
 public:
  Socket() = default;
  /// Takes over a connected socket.
  explicit Socket(int descriptor);
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;

  /// Tries all addresses of `host`, some seconds each. Not open where none answers; `reason` then says why.
  static Socket connect_to(const std::string& host, int port, std::string& reason);

  bool open() const { return descriptor_ >= 0; }
  /// Ends every call that waits on this socket, in whichever thread.
  void shut();
  /// Reads and writes give up when nothing has moved for so many seconds; 0: never.
  void give_up_after(double seconds) { patience_ = seconds; }
  /// All that follows must be over within so many seconds; 0: no such limit.
  void end_within(double seconds);

  /// Waits, as long as it takes, until something can be read or the other end has closed.
  void wait_for_word();
  void write(std::span<const std::byte> bytes);
  /// Fills `bytes`; false when the other end closed before the first one.
  bool read(std::span<std::byte> bytes);

  /// A length and that many bytes. A frame longer than `limit` is refused; memory is taken as bytes arrive.
  void write_frame(const Bytes& bytes);
  bool read_frame(Bytes& bytes, std::uint64_t limit);

 private:
  void wait_for(short event);

  int descriptor_ = -1;
  double patience_ = 0;
  std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace trigram
