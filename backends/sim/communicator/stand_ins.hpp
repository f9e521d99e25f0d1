// Flows that stand for others: a symmetric group's first node sends what every node sends.
#pragma once

#include <functional>
#include <vector>

#include "backends/sim/communicator/group_rank.hpp"

namespace trigram::sim {

/// A flow that stands for those of other ranks too. Ranks are those of the group.
struct StandIn {
  int from, to;
  std::int64_t bytes;
  int together = 1;  ///< messages that it stands for, each to a rank of its own
};

/// The flows of a collective, which the last rank to come to its meeting carries for all.
class StandIns {
 public:
  explicit StandIns(const GroupRank& member) : member_(member) {}

  /// Starts them together, and says of each when all its rounds have ended, in simulated seconds. Those of a node stand
  /// for the same of all others, or for none. Throws BackendError where a rank or a link is lost.
  void flow(const std::vector<StandIn>& flows, int rounds, bool for_others,
            const std::function<void(const StandIn&, double end)>& ended) const;
  /// Carries them to their end, with what rounds beyond the first pay in latency.
  void carry(const std::vector<StandIn>& flows, int rounds) const;

  /// What the first node's ranks send to the next ones where each sends `bytes` around a ring.
  std::vector<StandIn> ring_of_first_node(std::int64_t bytes) const;
  /// To others of the own node at the next of them, to all other nodes at the same place of the next node.
  std::vector<StandIn> all_to_all_of_first_node() const;
  enum class Reach : std::uint8_t { own_node, other_nodes };
  /// Modelled bytes that `sender` brings to an all-to-all for others on its own node, or on all other nodes.
  std::int64_t bytes_between(int sender, Reach reach) const;

 private:
  Load load(const StandIn& flow, int rounds) const;
  /// What connections and NICs of the other nodes remember of the flows that this one stands for.
  void admit_others(const StandIn& flow, int rounds) const;
  double end_of(const Load& load, const Flow& flow, double begin) const;

  const GroupRank& member_;
};

}  // namespace trigram::sim
