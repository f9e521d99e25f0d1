#include "net/connection/dial.hpp"

#include <sys/uio.h>

namespace trigram::net {

using namespace std::chrono_literals;

Dial::Dial(const Path& path, const Hello& hello, const Token& answers, Clock::time_point now)
    : socket_(Socket::connecting(path.from, path.to)), answers_(answers), deadline_(now + 3s) {
  write_hello(hello, hello_);
}

Dial::State Dial::fail(const std::string& reason) {
  reason_ = reason;
  socket_.close();
  return State::failed;
}

Dial::State Dial::progress(Clock::time_point now) {
  if (!socket_.open()) return fail("it cannot be reached from there");
  if (now > deadline_) return fail(said_ ? "it takes connections and says nothing" : "it does not answer");
  if (!said_) {
    const Moved moved = socket_.connected();
    if (moved == Moved::nothing_yet) return State::going_on;
    refused_ = moved == Moved::closed;
    if (moved != Moved::some || !say_hello()) return fail(refused_ ? "it refuses connections" : "it cannot be reached");
  }
  return hear_answer();
}

/// Its few bytes find room in the buffer of a new connection.
bool Dial::say_hello() {
  std::size_t bytes = 0;
  const iovec part{hello_.data(), hello_.size()};
  said_ = socket_.send({&part, 1}, bytes) == Moved::some && bytes == hello_.size();
  return said_;
}

Dial::State Dial::hear_answer() {
  std::size_t bytes = 0;
  iovec part{heard_.data() + heard_bytes_, heard_.size() - heard_bytes_};
  const Moved moved = socket_.receive({&part, 1}, bytes);
  heard_bytes_ += bytes;
  if (moved == Moved::nothing_yet || (moved == Moved::some && heard_bytes_ < heard_.size())) return State::going_on;
  if (moved != Moved::some) return fail("it hung up at our hello: the handle is none of its own");
  if (!same_token(heard_, answers_)) return fail("who answers there is not the listener of the handle");
  return State::ready;
}

}  // namespace trigram::net
