#include "experiments/measure/message_terms.hpp"

#include <algorithm>
#include <cmath>

#include "core/network/chunked_paths.hpp"
#include "core/network/pair_connections.hpp"
#include "core/network/token_bucket.hpp"

namespace trigram {
namespace {

Connections connections_of(const MessageTerms& terms) {
  Connections connections;
  connections.count = terms.connections;
  connections.window = terms.window;
  connections.eager = terms.eager ? terms.handshake_size : 0;
  return connections;
}

/// One host's way to another, message by message, as backends/sim/platform/network.cpp has it.
class Way {
 public:
  explicit Way(const MessageTerms& terms)
      : terms_(terms),
        connections_(connections_of(terms)),
        paths_(terms.chunk > 0 ? ChunkedPaths({1, terms.slower}, terms.chunk) : ChunkedPaths()),
        bucket_({terms.burst, terms.bandwidth, std::max(terms.line_rate, terms.bandwidth)}, 0) {}

  /// The seconds of a message at the time 0 that finds the bucket empty, of which only the bucket knows later.
  double send_before(double bytes) { return terms_.overhead + terms_.latency + carried(bytes, 0) / terms_.bandwidth; }
  /// Seconds from `now` until a message sent then is there.
  double send(double bytes, double now) {
    const double handshake = bytes > terms_.handshake_size ? terms_.handshake : 0;
    return terms_.overhead + terms_.latency + handshake +
           std::max(carried(bytes, now) / terms_.bandwidth, leaving(bytes, now + terms_.overhead, handshake));
  }

 private:
  double carried(double bytes, double now) {
    if (terms_.burst <= 0) return paths_.occupied(bytes);
    bucket_.wait_until(now);
    return bytes - bucket_.take(bytes, 0, 0);
  }
  double leaving(double bytes, double begin, double handshake) {
    if (!connections_.limit()) return 0;
    return pair_.send(connections_,
                      {bytes, begin, 2 * terms_.latency, handshake, std::max(terms_.bandwidth, terms_.line_rate)});
  }

  const MessageTerms& terms_;
  Connections connections_;
  ChunkedPaths paths_;
  TokenBucket bucket_;
  PairConnections pair_;
};

}  // namespace

double seconds_of(const MessageTerms& terms, double bytes, const Train& train) {
  constexpr double rounding = 1e-9;
  Way way(terms);
  const double before_next = train.answers ? 2 : 1;  // of what a message takes
  double now = before_next * way.send_before(bytes), last = 0, sum = 0;
  int sent = 0;
  // Once all connections have had one that took as long as the one before, so do the others.
  for (int alike = 0; sent < train.messages && alike <= terms.connections; ++sent) {
    const double before = last;
    last = way.send(bytes, now);
    alike = std::abs(last - before) <= rounding * last ? alike + 1 : 0;
    sum += last;
    now += before_next * last;
  }
  return (sum + (train.messages - sent) * last) / train.messages;
}

}  // namespace trigram
