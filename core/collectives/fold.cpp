// Folding surplus ranks into a power of two and out again.
#include "core/collectives/fold.hpp"

#include <bit>

#include "core/collectives/reduction.hpp"

namespace trigram {

Fold::Fold(int ranks, int rank)
    : core_size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))), surplus_(ranks - core_size_) {
  if (rank >= 2 * surplus_) {
    core_rank_ = rank - surplus_;
    return;
  }
  const bool folded_away = rank % 2 == 0;
  partner_ = folded_away ? rank + 1 : rank - 1;
  core_rank_ = folded_away ? -1 : rank / 2;
}

void Fold::in(Communicator& comm, Buffer x, ReduceOp op, Buffer memory) const {
  if (partner_ < 0) return;
  if (!takes_part()) return comm.exchange({Transfer::send_to(partner_, x)});
  comm.exchange({Transfer::receive_from(partner_, memory)});
  combine(comm, op, memory, x);
}

void Fold::out(Communicator& comm, Buffer x) const {
  if (partner_ < 0) return;
  comm.exchange({takes_part() ? Transfer::send_to(partner_, x) : Transfer::receive_from(partner_, x)});
}

// Each end takes part in both rounds and sends in one of them.
Cost Fold::cost(std::int64_t bytes) const { return partner_ < 0 ? Cost{} : Cost{2, bytes}; }

}  // namespace trigram
