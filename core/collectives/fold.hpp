// Group sizes that are no power of two: surplus ranks hand their values to a partner, wait, and get the result back.
#pragma once

#include "core/lane/communicator.hpp"
#include "core/values/cost.hpp"

namespace trigram {

/// Where a rank stands when a group is folded to the largest power of two that it holds (Thakur, Rabenseifner & Gropp,
/// "Optimization of collective communication operations in MPICH", 2005). Of the first 2·(surplus) ranks the even ones
/// fold into the odd one above them.
class Fold {
 public:
  Fold(int ranks, int rank);

  /// Number of ranks that take part between folding in and folding out: a power of two.
  int core_size() const { return core_size_; }
  /// This rank's place among them; -1 when it is folded away.
  int core_rank() const { return core_rank_; }
  bool takes_part() const { return core_rank_ >= 0; }
  /// The rank in the group of place `core_rank`.
  int rank_of(int core_rank) const { return core_rank < surplus_ ? 2 * core_rank + 1 : core_rank + surplus_; }

  /// x of the partner is combined with x of this rank where this rank keeps a partner's place. `memory` is shaped like
  /// x.
  void in(Communicator& comm, Buffer x, ReduceOp op, Buffer memory) const;
  /// The partner gets x.
  void out(Communicator& comm, Buffer x) const;
  /// Both together, for x of `bytes`.
  Cost cost(std::int64_t bytes) const;

 private:
  int core_size_;
  int surplus_;
  int core_rank_;
  int partner_ = -1;  ///< of this rank in the fold; -1 without one
};

}  // namespace trigram
