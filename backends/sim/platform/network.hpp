// Where messages go on their way: what connections and shaped NICs make of them, beside sharing links.
#pragma once

#include <limits>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <vector>

#include "backends/sim/platform/platform.hpp"
#include "core/network/pair_connections.hpp"
#include "core/network/token_bucket.hpp"

namespace trigram::sim {

/// What one flow stands for.
struct Load {
  int from, to;  ///< ranks of the world
  std::int64_t bytes;
  int rounds = 1;    ///< messages one after the other, the bytes spread over them
  int together = 1;  ///< messages of a round, each to a rank of its own
};

/// How it may go.
struct Terms {
  double bytes;        ///< that links carry
  double seconds = 0;  ///< between the first byte's start and the last one's at least; 0: links alone say

  /// Bytes that links carry in a second at most.
  double rate() const { return seconds > 0 ? bytes / seconds : std::numeric_limits<double>::infinity(); }
};

/// A flow under way without ends that were posted. SimGrid gives such a one no rate, so that its links may be done with
/// it too early.
struct Flow {
  simgrid::s4u::CommPtr comm;
  Terms terms;
  double through = 0;  ///< the earliest end of a single message
};

class Network {
 public:
  Network(const Cluster& cluster, const Platform& platform);

  /// A load that starts now: with every call, connections and buckets remember it.
  Terms admit(const Load& load) { return unlimited_ ? Terms{static_cast<double>(load.bytes)} : admit_limited(load); }
  /// The same of a load between two nodes, whose latency is known.
  Terms admit_between_nodes(const Load& load, double latency);
  /// Starts the load between the hosts of its ranks.
  Flow start(const Load& load);
  /// Its last byte is there since `when`, which links that it shares may have put off.
  void ended(const Load& load, double when) {
    if (connections_.remember()) note_end(load, when);
  }
  /// Whether what one flow does stands for others only where each of theirs is admitted too.
  bool remembers() const { return !buckets_.empty() || connections_.remember(); }
  /// Whether something beside links limits messages between nodes, one by one.
  bool limits_messages() const { return connections_.limit() || each_takes_time_ || paths_.limit(); }

 private:
  struct Opened {
    PairConnections connections;
    double last = 0;     ///< when they were in use
    double arrives = 0;  ///< when the last byte does, if no link is shared
  };

  Terms admit_limited(const Load& load);
  double carried(const Load& load) const;
  double seconds_of(const Load& load, double latency);
  double let_through(const Load& load, double latency);
  void note_end(const Load& load, double when);
  Opened& opened(const Load& load);

  const Platform& platform_;
  Connections connections_;
  ChunkedPaths paths_;
  double wire_;    ///< the most that a NIC carries, in bytes a second
  double shaped_;  ///< what it carries for long, likewise
  bool unlimited_;
  bool each_takes_time_;
  std::vector<TokenBucket> buckets_;  ///< by NIC; none where nothing is shaped
  std::unordered_map<std::uint64_t, Opened> opened_;
};

}  // namespace trigram::sim
