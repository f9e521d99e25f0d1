// Which of several ways to a peer a chunk is for, and into how many chunks a message is cut for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trigram::net {

/// A way to the peer, as it is now.
struct Way {
  double rate = 0;     ///< bytes per second, as measured; 0: not known
  double latency = 0;  ///< seconds that a byte takes which nothing waits before
  double waiting = 0;  ///< bytes that were given to it and of which the peer has not said that they are there

  /// Seconds until so many bytes are there that are given to it now.
  double done(double bytes) const;
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
