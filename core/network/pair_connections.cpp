#include "core/network/pair_connections.hpp"

#include <algorithm>

namespace trigram {

double PairConnections::send(const Connections& connections, const Leaving& message) {
  in_flight_.resize(static_cast<std::size_t>(connections.turns()));
  const bool in_two = message.handshake > 0 && connections.eager > 0 && message.bytes > connections.eager;
  if (!in_two) {
    Leaving whole = message;
    whole.begin += message.handshake;
    return send_part(connections, whole);
  }
  const double wire = connections.fastest(message.wire);
  Leaving first = message, rest = message;
  first.bytes = connections.eager;
  rest.bytes -= first.bytes;
  const double one = send_part(connections, first), one_passes = std::max(one, first.bytes / wire);
  rest.begin += one_passes + message.handshake;
  const double other = send_part(connections, rest);
  return one > 0 || other > 0 ? one_passes + std::max(other, rest.bytes / wire) : 0;
}

void PairConnections::delay(double seconds) {
  for (InFlight& one : in_flight_) one.delay(seconds);
}

double PairConnections::send_part(const Connections& connections, const Leaving& part) {
  const Connections those = connections.of_message(part.bytes);
  Leaving rest = part;
  const double started = those.starts_slowly() ? those.slow_start(rest.bytes, part.round_trip, part.wire, window_) : 0;
  rest.begin += started;
  const double open = those.window > 0 ? by_windows(connections, rest) : those.copying(rest.bytes);
  return started > 0 ? started + std::max(open, rest.bytes / those.fastest(part.wire)) : open;
}

double PairConnections::by_windows(const Connections& connections, const Leaving& part) {
  if (connections.turns() == 1)
    return in_flight_.front().send(part.bytes, part.begin, connections, part.round_trip, part.wire);
  const bool in_turn = part.bytes <= connections.eager;
  if (in_turn) turn_ = (turn_ + 1) % in_flight_.size();
  std::size_t next = in_turn ? turn_ : 0;
  double longest = 0;
  for (double left = part.bytes; left > 0; ++next) {
    const double share = connections.share(part.bytes, left);
    const double wire = part.wire * share / part.bytes;
    longest = std::max(longest, in_flight_[next % in_flight_.size()].send(share, part.begin, connections.one(),
                                                                          part.round_trip, wire));
    left -= share;
  }
  return longest;
}

}  // namespace trigram
