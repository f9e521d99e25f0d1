// Every collective by exchanges: the implementation that runs where a backend has none of its own.
#pragma once

#include "core/lane/communicator.hpp"

namespace trigram::by_exchange {

/// Each as Communicator's method of that name says. Throws UsageError for a root that is no rank of the group, Error
/// for another number of buffers than there are ranks.
void all_reduce(Communicator& comm, const CollectiveCall& call);
void reduce_scatter(Communicator& comm, const CollectiveCall& call);
void all_gather(Communicator& comm, const CollectiveCall& call);
void all_to_all(Communicator& comm, const CollectiveCall& call);
void broadcast(Communicator& comm, const CollectiveCall& call);
void reduce(Communicator& comm, const CollectiveCall& call);
void gather(Communicator& comm, const CollectiveCall& call);
void scatter(Communicator& comm, const CollectiveCall& call);
void barrier(Communicator& comm, const CollectiveCall& call);

}  // namespace trigram::by_exchange
