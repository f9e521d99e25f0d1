// Collectives as sets of concurrent flows: O(ranks) of them instead of O(ranks²), or those of one node, the same
// numbers to the bit.
#pragma once

#include "backends/sim/communicator/messages.hpp"
#include "backends/sim/communicator/stand_ins.hpp"

namespace trigram::sim {

/// Those of one rank of a group of two or more. Ring all-reduce, reduce-scatter, all-gather of equal parts and
/// all-to-all, and inside a node broadcast and reduce, are flows with the volume and latency of all their rounds. Where
/// the group is symmetric, the flows of one node stand for those of all.
class FluidCollectives {
 public:
  FluidCollectives(const GroupRank& member, Messages& messages, const StandIns& stand_ins)
      : member_(member), messages_(messages), stand_ins_(stand_ins) {}

  /// Whether the call has such a form; an all-reduce has it where it is a ring, or its chunks flow anyway.
  bool has_form(const CollectiveCall& call, const Communicator& comm) const;
  /// Performs one that has. `comm` is this rank's.
  void perform(const CollectiveCall& call, Communicator& comm) const;

 private:
  /// A collective of a ring: `move` has its numbers, `volume` says what a rank sends to the next.
  template <class Move, class Volume>
  void ring(const char* name, int rounds, const Volume& volume, const Move& move) const;
  /// A ring of the vectors that all bring.
  template <class Volume>
  void ring_of_vectors(const CollectiveCall& call, Communicator& comm, int rounds, const Volume& volume) const;
  void ring_of_chunks(const CollectiveCall& call, Communicator& comm) const;
  void all_gather_parts(std::span<const Buffer> parts) const;
  void all_to_all(const CollectiveCall& call) const;
  void deliver_all() const;
  void flows_to_nodes() const;
  void flows_to_ranks() const;
  /// A collective along a binomial tree: its root's link carries every round, in the direction of `flow`.
  void tree(const CollectiveCall& call, Communicator& comm, StandIn flow) const;
  void barrier() const;
  /// What each rank waits for in the rounds of a barrier that all entered at once.
  std::vector<double> barrier_waits() const;

  const GroupRank& member_;
  Messages& messages_;
  const StandIns& stand_ins_;
};

}  // namespace trigram::sim
