// What connections between two ranks have sent and nobody has acknowledged yet.
#pragma once

#include <deque>

#include "core/network/connections.hpp"

namespace trigram {

/// The windows of one pair's connections, which messages fill that follow each other: what those before still have in
/// flight is no room for the next.
class InFlight {
 public:
  /// Sends so many bytes from `begin` on. Seconds for which they leave at least; 0 where only the wire limits them.
  /// What finds room leaves at the speed of the wire, and room comes back a round trip after what took it has begun to
  /// leave. So with all windows w = count · window that are open at first, ⌈bytes / w⌉ − 1 round trips pass before what
  /// is left leaves. A cap is what the thread behind a connection copies; it copies a window and waits for it by turns,
  /// so that both times add up.
  double send(double bytes, double begin, const Connections& connections, double round_trip, double wire);
  /// What is in flight is acknowledged so much later.
  void delay(double seconds);

 private:
  struct Part {
    double bytes, acknowledged;
  };

  void put(double bytes, double acknowledged);
  void forget_until(double now);
  void take_back_oldest();

  std::deque<Part> parts_;  ///< in the order in which they left
  double bytes_ = 0;        ///< of all parts
};

}  // namespace trigram
