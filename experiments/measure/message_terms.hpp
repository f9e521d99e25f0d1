// What limits a message between two hosts, and what it takes where messages follow each other.
#pragma once

#include <limits>

namespace trigram {

/// Parameters of a cluster that say how long a message takes, by the simulator's own rules. seconds = latency + bytes /
/// bandwidth where nothing else is given.
struct MessageTerms {
  double overhead = 0;   ///< seconds of the sender's host
  double latency = 0;    ///< seconds
  double bandwidth = 0;  ///< bytes per second
  /// Seconds that an announced message waits for its answer.
  double handshake = 0;
  double handshake_size = std::numeric_limits<double>::infinity();  ///< bytes of the largest that is not announced
  bool eager = false;    ///< what is announced begins with handshake_size bytes
  double window = 0;     ///< bytes that a connection has in flight; 0: no limit
  int connections = 1;   ///< over which what is announced is spread
  double burst = 0;      ///< bytes that a shaper lets through after a pause; 0: there is none
  double line_rate = 0;  ///< bytes per second of a burst
  double chunk = 0;      ///< bytes of a chunk on two paths; 0: there is one path
  double slower = 1;     ///< bandwidth of the slower path over that of the other; `bandwidth` is that of both
};

/// How messages of one size follow each other between two hosts.
struct Train {
  int messages = 1;
  bool answers = false;  ///< each waits for an answer of its size, which goes back by connections of its own
};

/// Mean seconds of a message of a train, from when it is sent until it is there. Windows are open and a
/// shaper's bucket is as full as it becomes after one message that found it empty.
double seconds_of(const MessageTerms& terms, double bytes, const Train& train);

}  // namespace trigram
