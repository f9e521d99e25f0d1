// Collectives whose chunks flow: their streams are flows side by side, at either fidelity.
#pragma once

#include "backends/sim/communicator/stand_ins.hpp"
#include "core/lane/all_reduce.hpp"

namespace trigram::sim {

/// Those of one rank of a group of two or more. The way of the chunk that goes farthest is paid once, or hides behind
/// the streams. With `fluid`, the streams of one node stand for those of nodes that are like it.
class PipelinedCollectives {
 public:
  PipelinedCollectives(const GroupRank& member, const StandIns& stand_ins, bool fluid)
      : member_(member), stand_ins_(stand_ins), fluid_(fluid) {}

  /// Performs an all-reduce that is pipelined, or what its library chooses too. `comm` is this rank's.
  void perform(const CollectiveCall& call, Communicator& comm) const;
  /// Bytes that this rank sent to other nodes in the last of them.
  std::int64_t sent_to_other_nodes() const { return member_.group->meeting().sent_to_other_nodes[at(member_.rank)]; }

 private:
  /// Calls `use` with where the group stands.
  template <class Use>
  auto in_neighbourhood(const Use& use) const;
  void add_in_memory(const AllReduce& how, ReduceOp op, Communicator& comm) const;
  Pipeline pipeline_of(const CollectiveCall& call, const AllReduce& how) const;
  void note_choice(const AllReduce& how, const CollectiveCall& call) const;
  void carry(const Pipeline& pipeline) const;
  bool stands_for_all(const Pipeline& pipeline, const Pipeline::Stream& stream) const;

  const GroupRank& member_;
  const StandIns& stand_ins_;
  bool fluid_;
};

}  // namespace trigram::sim
