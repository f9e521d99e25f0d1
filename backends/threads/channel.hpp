// Messages from one rank to another inside a process, in order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "backends/threads/wait.hpp"
#include "core/lane/communicator.hpp"

namespace trigram::threads {

/// Names a message where it is waited for in vain: "a receive of 40 bytes from rank 2".
using What = std::function<std::string()>;

/// One direction of one pair of ranks in one group. A message lies where its sender has it until it is taken, so that
/// code that relies on buffering hangs here and not first on a real network.
class Channel {
 public:
  /// Hands in a message, whose memory stays until it was taken or withdrawn; the ticket is for `wait_taken`.
  std::uint64_t post(const Buffer& message);
  void wait_taken(std::uint64_t ticket, const Wait& wait, const What& what);
  /// Takes the next message. Throws Error where its size is another than that of `into`.
  void take(const Buffer& into, const Wait& wait, const What& what);
  /// All that was handed in and not taken.
  void withdraw();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Buffer> waiting_;
  std::uint64_t posted_ = 0;
  std::uint64_t taken_ = 0;
};

/// All channels of one run, by (group, sender, receiver).
class Channels {
 public:
  std::shared_ptr<Channel> find(const std::string& group, int sender, int receiver);

 private:
  std::mutex mutex_;
  std::map<std::tuple<std::string, int, int>, std::shared_ptr<Channel>> channels_;
};

/// Messages of one lane that are under way together. What was not taken when it is gone is withdrawn.
class Batch {
 public:
  Batch() = default;
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// `peer` is for messages of errors, and counts among all ranks.
  void add(std::shared_ptr<Channel> channel, const Transfer& transfer, int peer);
  /// Returns when all have been taken, in either direction.
  void finish(const Wait& wait);

 private:
  struct Part {
    std::shared_ptr<Channel> channel;
    Buffer buffer;
    int peer;
    std::uint64_t ticket;
  };
  std::vector<Part> sends_;
  std::vector<Part> receives_;
};

}  // namespace trigram::threads
