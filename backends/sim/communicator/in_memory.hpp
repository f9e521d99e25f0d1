// What a collective does to the vectors of all ranks, which lie in one memory: the numbers of its rounds, in their
// order.
#pragma once

#include "backends/sim/communicator/group.hpp"
#include "core/lane/communicator.hpp"

namespace trigram::sim {

/// Copies what `sender` sends to where `receiver` receives it, ranks of the group. Throws Error, naming both, where the
/// sizes differ.
void deliver(Group& group, Buffer from, Buffer to, int sender, int receiver);

/// Throws Error, naming two ranks and their sizes, where not all have brought vectors alike to the meeting.
void require_same_sizes(Group& group);

/// Throws UsageError where the call's root is no rank of a group of `ranks`.
void require_root(const CollectiveCall& call, int ranks);

/// An all-reduce, a reduce-scatter or an all-gather as a ring's rounds do it, a broadcast, or a reduce along a binomial
/// tree, of the vectors that all have brought to the meeting. `comm` is that of any of them.
void perform_in_memory(Communicator& comm, const CollectiveCall& call, const std::vector<Buffer>& all);

}  // namespace trigram::sim
