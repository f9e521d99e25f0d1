// Collectives by the MPI library instead of by exchange.
#pragma once

#include "backends/mpi/communicator.hpp"

namespace trigram::mpi {

/// Every collective is MPI's, in its nonblocking form so that the watchdog sees it. Sums are added in the library's
/// order: results are equal on all ranks, but not bit for bit those of other backends. A reduction that
/// MPI has no type for (f16, bf16) or cannot count (2^31 elements) falls back on the body on top of exchange; another
/// collective of 2^31 bytes is a UsageError.
class VendorCommunicator final : public MpiCommunicator {
 public:
  using MpiCommunicator::MpiCommunicator;

  bool performs(Collective) const override { return true; }
  void all_reduce(Buffer x, ReduceOp op) override;
  void reduce_scatter(Buffer x, ReduceOp op) override;
  void all_gather(Buffer x) override;
  void all_gather(std::span<const Buffer> parts) override;
  void all_to_all(std::span<const Buffer> send, std::span<const Buffer> receive) override;
  void broadcast(Buffer x, int root) override;
  void reduce(Buffer x, ReduceOp op, int root) override;
  void gather(Buffer part, std::span<const Buffer> parts, int root) override;
  void scatter(std::span<const Buffer> parts, Buffer part, int root) override;
  void barrier() override;

 protected:
  std::unique_ptr<Communicator> regroup(std::string name, const std::vector<int>& members, int part) override;
};

}  // namespace trigram::mpi
