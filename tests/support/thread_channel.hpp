// Messages from one rank to another inside a process, in order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "core/buffer.hpp"
#include "core/error.hpp"

namespace trigram {

/// What a blocking call throws on a rank that is let go because another one failed.
class Released : public BackendError {
 public:
  Released() : BackendError("released, since another rank failed") {}
};

/// One message: its sizes, and its bytes unless it is a phantom.
struct Message {
  Shape shape;
  std::vector<std::byte> bytes;
};

/// What a buffer holds, as a message.
Message message_of(const Buffer& buffer);

/// Fills `buffer` with what `sender` sent to `receiver`. Throws Error where sizes differ.
void deliver(const Message& message, const Buffer& buffer, int sender, int receiver);

/// One direction of one pair of ranks in one group. A sender waits until its message was taken, as with a rendezvous
/// protocol, so that code that relies on buffering hangs here and not first on a real network.
class ThreadChannel {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// Hands in a message; the ticket is for `wait_taken`.
  std::uint64_t post(Message message);
  /// False when the deadline passed first. Throws Released.
  bool wait_taken(std::uint64_t ticket, Deadline deadline);
  /// Takes the next message. False when the deadline passed first. Throws Released.
  bool take(Message& message, Deadline deadline);
  /// Lets all present and future waiters go.
  void release();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> waiting_;
  std::uint64_t posted_ = 0;
  std::uint64_t taken_ = 0;
  bool released_ = false;
};

/// All channels of one run, by (group, sender, receiver).
class ThreadChannels {
 public:
  std::shared_ptr<ThreadChannel> find(const std::string& group, int sender, int receiver);
  void release();

 private:
  std::mutex mutex_;
  std::map<std::tuple<std::string, int, int>, std::shared_ptr<ThreadChannel>> channels_;
  bool released_ = false;
};

}  // namespace trigram
