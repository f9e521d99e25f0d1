// What the connections between two nodes let through, beside what their links do.
#pragma once

#include <algorithm>
#include <limits>

namespace trigram::sim {

/// Two ranks of different nodes talk over `count` connections, each with an even share of a message. A connection
/// keeps at most `window` bytes in flight, which the other end has not acknowledged, and reaches at most `cap`.
struct Connections {
  int count = 1;
  double window = 0;  ///< bytes; 0: no limit
  double cap = 0;     ///< bytes per second; 0: no limit

  bool limit() const { return window > 0 || cap > 0; }

  /// Bytes per second at which a message of so many bytes leaves at most, when an acknowledgement takes `round_trip`
  /// seconds, on a wire that carries `wire` bytes per second. With all windows w = count · window, each w waits a round
  /// trip for the one before, and the last leaves at the wire's speed: bytes / rate ≥ (bytes / w − 1) · round_trip +
  /// w / wire. What fits into w does not wait, and for long messages rate ≤ w / round_trip.
  double rate(double bytes, double round_trip, double wire) const {
    const double most = cap > 0 ? count * cap : std::numeric_limits<double>::infinity();
    const double all = count * window;
    if (window == 0 || bytes <= all) return most;
    return std::min(most, bytes / ((bytes / all - 1) * round_trip + all / wire));
  }
};

}  // namespace trigram::sim
