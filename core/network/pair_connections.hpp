// What the connections of one pair of ranks remember of the messages before.
#pragma once

#include <cstddef>
#include <vector>

#include "core/network/connections.hpp"
#include "core/network/in_flight.hpp"

namespace trigram {

/// A message that leaves over the connections of a pair.
struct Leaving {
  double bytes = 0;
  double begin = 0;       ///< seconds
  double round_trip = 0;  ///< seconds until what has left is acknowledged
  double handshake = 0;   ///< seconds until what was announced may leave; 0: nothing is announced
  double wire = 0;        ///< bytes per second that all connections carry at most
};

/// The connections of one pair: how wide slow start has opened them, what each has in flight, whose turn it is.
class PairConnections {
 public:
  /// Seconds from its begin for which a message leaves at least, beside its handshake; 0 where only the wire limits it.
  /// A message of more than `eager` bytes that is announced begins with as many over one connection; the rest waits
  /// for the answer, and goes over all of them.
  double send(const Connections& connections, const Leaving& message);
  /// They were idle for so long that slow start begins anew.
  void restart(const Connections& connections) { window_ = connections.initial_window; }
  bool started() const { return window_ > 0; }
  /// What is in flight is acknowledged so much later.
  void delay(double seconds);

 private:
  double send_part(const Connections& connections, const Leaving& part);
  double by_windows(const Connections& connections, const Leaving& part);

  double window_ = 0;                ///< bytes, of each connection in slow start
  std::vector<InFlight> in_flight_;  ///< of each connection, where messages may go over one; else of all
  std::size_t turn_ = 0;             ///< whose the last such message was
};

}  // namespace trigram
