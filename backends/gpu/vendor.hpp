// Collectives by NCCL instead of by exchange.
#pragma once

#include "backends/gpu/communicator.hpp"

namespace trigram::gpu {

/// Reductions, gathers and broadcasts are NCCL's. Sums are added in its order: results are equal on all ranks, but not
/// bit for bit those of other backends; sums of bytes wrap as ours do. Where NCCL wants equal parts and there are none,
/// and for every other collective, the body on top of exchange runs.
class VendorCommunicator final : public GpuCommunicator {
 public:
  using GpuCommunicator::GpuCommunicator;

  bool performs(Collective collective) const override;
  void all_reduce(Buffer x, ReduceOp op) override;
  void reduce_scatter(Buffer x, ReduceOp op) override;
  using Communicator::all_gather;
  void all_gather(Buffer x) override;
  void broadcast(Buffer x, int root) override;
  void reduce(Buffer x, ReduceOp op, int root) override;

 protected:
  std::unique_ptr<Communicator> like_this(std::shared_ptr<NcclGroup> group,
                                          std::vector<int> world_ranks) const override;

 private:
  void finish_float_mean(ReduceOp op, Buffer x);
};

}  // namespace trigram::gpu
