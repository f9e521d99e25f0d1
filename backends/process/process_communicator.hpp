// Base of the communicators of backends whose lanes are threads.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/process/lanes/lane_context.hpp"
#include "core/lane/communicator.hpp"

namespace trigram {

/// A group of ranks, on a lane that only one thread uses at a time. A backend implements `exchange` and `make_part`.
class ProcessCommunicator : public Communicator {
 public:
  int rank() const final { return rank_; }
  int size() const final { return static_cast<int>(world_ranks_.size()); }
  Device& device() final { return lane_->device; }
  using Communicator::exchange;
  std::unique_ptr<Communicator> regroup(const GroupPart& part) final;

 protected:
  using LaneOfGroup = std::shared_ptr<const LaneContext>;

  /// `world_ranks`: the rank in the job of each rank of the group; `own`: this rank's in the job; `name` is for error
  /// messages: "all ranks".
  ProcessCommunicator(std::string name, std::vector<int> world_ranks, int own, LaneOfGroup lane);

  /// The same kind of communicator for one group of a split (GroupPart), with a name for error messages.
  virtual std::unique_ptr<Communicator> make_part(std::string name, const std::vector<int>& members, int part) = 0;

  static bool is_receive(const Transfer& transfer) { return transfer.direction == Transfer::Direction::receive; }
  /// Throws UsageError for a peer that is no rank of the group, and for phantom data, which `backend` cannot send.
  void require_possible(std::span<const Transfer> transfers, const char* backend) const;
  int world_rank(int peer) const { return world_ranks_[static_cast<std::size_t>(peer)]; }
  std::vector<int> world_ranks_of(const std::vector<int>& members) const;
  const std::vector<int>& world_ranks() const { return world_ranks_; }
  int own_world_rank() const { return world_rank(rank_); }
  const LaneOfGroup& lane() const { return lane_; }
  const std::string& name() const { return name_; }

  /// One more operation begins.
  void count_operation() { ++operations_; }
  const std::atomic<std::int64_t>& operations() const { return operations_; }
  /// "rank 3, step 5, lane 1 (buckets 0, 2, ...), all ranks: exchange number 17 (in all_reduce of bucket 0)". On the
  /// lane's own thread only.
  std::string describe(const std::string& operation) const;

 private:
  std::string name_;
  std::vector<int> world_ranks_;
  int rank_;
  LaneOfGroup lane_;
  std::atomic<std::int64_t> operations_{0};  ///< so far, for error messages
};

}  // namespace trigram
