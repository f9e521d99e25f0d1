// A collective by its name: what code of other languages asks a communicator for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/lane/communicator.hpp"

namespace trigram {

/// What a rank does in a group, and to which buffers. Those that come in pairs, one that is sent and one that is
/// received for each rank of the group, are all that are sent, then all that are received.
struct GroupCall {
  /// "all_reduce", …, "all_gather_parts", "send", "receive", "exchange", "exchange_with_those_there"
  std::string collective;
  ReduceOp op = ReduceOp::sum;
  int peer = 0;  ///< the root, or whom to send to or to receive from
  std::vector<Buffer> buffers = {};
  std::vector<int> peers = {};  ///< of an exchange: of each buffer
  std::size_t sent = 0;         ///< of an exchange: so many of the buffers are sent, and the others received
};

/// "sum", "mean", "min", "max". Throws UsageError for another word.
ReduceOp reduce_op_of(const std::string& name);
/// As name_of(DType) has them. Throws UsageError for another word.
DType dtype_of(const std::string& name);

/// Throws before anything is sent: UsageError for a rank that is not there, Error for an unknown name.
void check(const Communicator& comm, const GroupCall& call);
/// Collective. Gives who is gone, as Communicator::exchange_with_those_there, and nobody of another call.
std::vector<int> perform(Communicator& comm, const GroupCall& call);

}  // namespace trigram
