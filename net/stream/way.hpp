// Which of several ways to a peer a chunk is for, and into how many chunks a message is cut for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace trigram::net {

/// A way to the peer, as it is now.
struct Way {
  double rate = 0;     ///< bytes per second, as measured; 0: not known
  double latency = 0;  ///< seconds that a byte takes which nothing waits before
  double waiting = 0;  ///< bytes that were given to it and are not there yet, as far as is known

  /// Seconds until so many bytes are there that are given to it now.
  double done(double bytes) const;
};

/// What was given to a way and cannot be there yet at its rate. The kernel says less surely what is: a receiver that
/// has nothing to send puts an acknowledgement off.
class Backlog {
 public:
  /// So many bytes more at that time; rates are bytes per second, times seconds.
  void add(double bytes, double rate, double now) {
    bytes_ = left(rate, now) + bytes;
    since_ = now;
  }
  double left(double rate, double now) const { return std::max(0.0, bytes_ - rate * (now - since_)); }

 private:
  double bytes_ = 0;
  double since_ = 0;
};

/// A chunk that takes less is not worth a question: the answer would take as long.
constexpr double least_seconds = 100e-6;

/// Whether ways[own] leaves a chunk of `length` bytes to the others: one of them would be sooner done with it, and all
/// together with the `queued` bytes that wait up to the end of its message. Of ways that have nothing to wait for, one
/// takes it.
bool leaves(std::span<const Way> ways, std::size_t own, double length, double queued);

/// Bytes of the chunks of a message over several ways, of which the fastest has that rate: of at most `most`, and fewer
/// for a short message, so that ways of unequal rate end together.
std::uint32_t chunk_over(std::uint64_t size, double fastest, std::uint32_t most);

}  // namespace trigram::net
