// A group of ranks as an MPI communicator of its own.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/mpi/wait.hpp"
#include "backends/process/lane_context.hpp"
#include "core/communicator.hpp"
#include "processes/mpi_library.hpp"

namespace trigram::mpi {

/// Nonblocking sends and receives on a communicator that only one lane uses, so that messages match in order without
/// tags. Real bytes travel: a phantom buffer is a UsageError. Messages beyond 1 GiB travel in pieces.
class MpiCommunicator : public Communicator {
 public:
  /// Takes over `comm`, and frees it unless the rank has failed by then.
  MpiCommunicator(MPI_Comm comm, std::string name, std::shared_ptr<const LaneContext> lane);
  ~MpiCommunicator() override;
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(world_ranks_.size()); }
  Device& device() override { return lane_->device; }
  void exchange(std::span<const Transfer> transfers) override;
  std::unique_ptr<Communicator> split(int color, int key) override;

 protected:
  /// The same kind of communicator on another group.
  virtual std::unique_ptr<Communicator> like_this(MPI_Comm comm) const;
  MPI_Comm handle() const { return comm_; }
  const std::shared_ptr<const LaneContext>& lane() const { return lane_; }
  const std::string& name() const { return name_; }
  /// Counts an operation of this communicator and waits for it: "all_reduce of 1024 bytes".
  void finish(MPI_Request request, const std::string& operation);

 private:
  std::string describe(const std::string& operation) const;
  int dense(int color) const;

  MPI_Comm comm_;
  std::string name_;
  std::shared_ptr<const LaneContext> lane_;
  int rank_ = 0;
  std::vector<int> world_ranks_;           ///< by rank of this group, for messages
  std::atomic<std::int64_t> sequence_{0};  ///< operations so far, for messages
};

}  // namespace trigram::mpi
