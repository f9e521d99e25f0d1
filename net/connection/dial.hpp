// Connecting one stream in steps, none of which blocks.
#pragma once

#include <array>
#include <string>

#include "net/clock.hpp"
#include "net/connection/hello.hpp"
#include "net/connection/socket.hpp"
#include "net/stream/path.hpp"

namespace trigram::net {

/// Connects, says hello, and hears whether the other end is the listener of the handle.
class Dial {
 public:
  enum class State { going_on, ready, failed };

  /// `answers` is the handle's token that the listener must say.
  Dial(const Path& path, const Hello& hello, const Token& answers, Clock::time_point now);

  State progress(Clock::time_point now);
  /// The connection, once it is ready.
  Socket take() { return std::move(socket_); }
  /// Why it failed.
  const std::string& reason() const { return reason_; }
  /// Its host is there, and the listener is not.
  bool refused() const { return refused_; }

 private:
  State fail(const std::string& reason);
  bool say_hello();
  State hear_answer();

  Socket socket_;
  std::array<std::byte, hello_bytes> hello_;
  Token answers_;
  Token heard_{};
  std::size_t heard_bytes_ = 0;
  bool said_ = false;
  bool refused_ = false;
  Clock::time_point deadline_;
  std::string reason_;
};

}  // namespace trigram::net
