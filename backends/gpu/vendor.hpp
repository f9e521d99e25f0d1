// Collectives by NCCL instead of by exchange.
#pragma once

#include "backends/gpu/communicator.hpp"

namespace trigram::gpu {

/// Reductions, gathers and broadcasts are NCCL's. Sums are added in its order: results are equal on all ranks, but not
/// bit for bit those of other backends; sums of bytes wrap as ours do. Where NCCL wants equal parts and there are none,
/// and for every other collective, the implementation by exchange runs.
class VendorCommunicator final : public GpuCommunicator {
 public:
  using GpuCommunicator::GpuCommunicator;

  bool performs(const CollectiveCall& call) override;
  void perform(const CollectiveCall& call) override;

 protected:
  std::unique_ptr<Communicator> like_this(std::shared_ptr<NcclGroup> group,
                                          std::vector<int> world_ranks) const override;

 private:
  /// Orders the call on the lane's stream. `own` is this rank's chunk of the vector.
  ncclResult_t order_on(ncclComm_t comm, const CollectiveCall& call, Buffer own) const;
};

}  // namespace trigram::gpu
