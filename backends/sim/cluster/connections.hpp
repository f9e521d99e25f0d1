// What the connections between two nodes let through, beside what their links do.
#pragma once

#include <algorithm>
#include <limits>

namespace trigram::sim {

/// Two ranks of different nodes talk over `count` connections, each with an even share of a message. A connection
/// keeps at most `window` bytes in flight, which the other end has not acknowledged, and reaches at most `cap`. With
/// `initial_window`, a new one, and one that was idle for longer than `idle`, begins with so many bytes in flight and
/// twice as many each round trip (slow start, RFC 5681), until its window is open or the wire full.
struct Connections {
  int count = 1;
  double window = 0;          ///< bytes; 0: no limit
  double cap = 0;             ///< bytes per second; 0: no limit
  double initial_window = 0;  ///< bytes; 0: windows are open at once
  double idle = 0;            ///< seconds

  bool limit() const { return window > 0 || cap > 0 || starts_slowly(); }
  bool starts_slowly() const { return initial_window > 0; }

  /// Seconds for which so many bytes leave at least, when an acknowledgement takes `round_trip` seconds, on a wire that
  /// carries `wire` bytes per second; 0 where only the wire limits them. With all windows w = count · window, each w
  /// waits a round trip for the one before, and the last leaves at the wire's speed:
  /// (bytes / w − 1) · round_trip + w / wire. What fits into w does not wait. A cap is what the thread behind a
  /// connection copies; it copies a window and waits for it by turns, so both times add up. Before that, each
  /// connection's `open` bytes wait a round trip, and as many more as it acknowledges may leave in the next: k of these
  /// carry (2^k − 1) · count · open. `open` is left as wide as the message has made it.
  double seconds(double bytes, double round_trip, double wire, double& open) const;
  /// The same of windows that are open.
  double seconds_when_open(double bytes, double round_trip, double wire) const;
};

inline double Connections::seconds_when_open(double bytes, double round_trip, double wire) const {
  const double capped = cap > 0 ? bytes / (count * cap) : 0;
  const double all = count * window;
  if (window == 0 || bytes <= all) return capped;
  return (bytes / all - 1) * round_trip + (cap > 0 ? capped : all / wire);
}

inline double Connections::seconds(double bytes, double round_trip, double wire, double& open) const {
  if (!starts_slowly()) return seconds_when_open(bytes, round_trip, wire);
  const double fastest = cap > 0 ? std::min(wire, count * cap) : wire;
  const double full = std::min(window > 0 ? window : std::numeric_limits<double>::infinity(),
                               std::max(initial_window, fastest * round_trip / count));
  double started = 0, rest = bytes, sendable = open;
  while (sendable < full && rest > count * sendable) {
    started += round_trip;
    rest -= count * sendable;
    sendable *= 2;
  }
  open = std::min(full, open + bytes / count);
  return started + std::max(rest / fastest, seconds_when_open(rest, round_trip, wire));
}

}  // namespace trigram::sim
