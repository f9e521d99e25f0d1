// The arithmetic inside collectives.
#include "core/collectives/reduction.hpp"

namespace trigram {

void combine(Communicator& comm, ReduceOp op, Buffer incoming, Buffer held) {
  const Device::Uncharged uncharged(comm.device());
  comm.device().reduce(op == ReduceOp::mean ? ReduceOp::sum : op, incoming, held);
}

void finish_mean(Communicator& comm, ReduceOp op, Buffer x) {
  if (op != ReduceOp::mean || comm.size() == 1 || x.count() == 0 || x.is_phantom()) return;
  const Device::Uncharged uncharged(comm.device());
  if (is_floating(x.dtype())) return comm.device().scale(x, 1.0F / static_cast<float>(comm.size()));
  comm.device().divide_whole(x, comm.size());
}

void copy_own(Communicator& comm, Buffer from, Buffer to) {
  const Device::Uncharged uncharged(comm.device());
  comm.device().copy(from, to);
}

Buffer shaped_like(Buffer memory, Buffer x) { return memory.slice(0, x.count(), x.modelled_count()); }

}  // namespace trigram
