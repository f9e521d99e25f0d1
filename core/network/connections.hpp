// What the connections between two nodes let through, beside what their links do.
#pragma once

#include <algorithm>
#include <limits>

namespace trigram {

/// Two ranks of different nodes talk over `count` connections. Each has an even share of a message, until at most
/// `eager` bytes are left: one of them has these, and of messages that are no longer the next one has the next. A
/// connection keeps at most `window` bytes in flight, which the other end has not acknowledged, and reaches at most
/// `cap`. With `initial_window`, a new one, and one that was idle for longer than `idle`, begins with so many bytes in
/// flight and twice as many each round trip (slow start, RFC 5681), until its window is open or the wire full.
struct Connections {
  int count = 1;
  double eager = 0;           ///< bytes; 0: all messages are shared
  double window = 0;          ///< bytes; 0: no limit
  double cap = 0;             ///< bytes per second; 0: no limit
  double initial_window = 0;  ///< bytes; 0: windows are open at once
  double idle = 0;            ///< seconds

  bool limit() const { return remember() || cap > 0; }
  bool starts_slowly() const { return initial_window > 0; }
  /// Whether what a message may do depends on those before it.
  bool remember() const { return window > 0 || starts_slowly(); }
  /// How many have a window of their own, since messages may go over one of them.
  int turns() const { return eager > 0 ? count : 1; }
  /// One of them.
  Connections one() const;
  /// Those that a message of so many bytes goes over.
  Connections of_message(double bytes) const { return bytes <= eager ? one() : *this; }

  /// Bytes that the next connection has of a message of which so many are left (Open MPI's ob1 divides so).
  double share(double bytes, double left) const { return left <= eager ? left : std::min(left, bytes / count); }

  /// Bytes per second on a wire that carries `wire`.
  double fastest(double wire) const { return cap > 0 ? std::min(wire, count * cap) : wire; }
  /// Seconds for which so many bytes leave at least where windows are open; 0 where only the wire limits them.
  double copying(double bytes) const { return cap > 0 ? bytes / (count * cap) : 0; }
  /// Seconds for which all but the rest of so many bytes wait in slow start: each connection's `open` bytes wait a
  /// round trip, and as many more as it acknowledges may leave in the next: k of these carry (2^k − 1) · count · open.
  /// `bytes` is left as what leaves after them, and `open` as wide as the message has made it.
  double slow_start(double& bytes, double round_trip, double wire, double& open) const;
};

inline Connections Connections::one() const {
  Connections alone = *this;
  alone.count = 1;
  return alone;
}

inline double Connections::slow_start(double& bytes, double round_trip, double wire, double& open) const {
  const double full = std::min(window > 0 ? window : std::numeric_limits<double>::infinity(),
                               std::max(initial_window, fastest(wire) * round_trip / count));
  const double opened = std::min(full, open + bytes / count);
  double started = 0;
  for (double sendable = open; sendable < full && bytes > count * sendable; sendable *= 2) {
    started += round_trip;
    bytes -= count * sendable;
  }
  open = opened;
  return started;
}

}  // namespace trigram
