// A group of ranks as a communicator of NCCL's on one lane's stream.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/gpu/nccl_group.hpp"
#include "backends/gpu/watchdog.hpp"
#include "core/lane/communicator.hpp"

namespace trigram::gpu {

/// What the communicators of one lane share; the watchdog and the device outlive them all.
struct StreamContext {
  int index = 0;
  std::string name;  ///< "main lane", "lane 1 (buckets 0, 2, ...)", "background lane"
  cudaStream_t stream = nullptr;
  Device& device;
  Watchdog& watchdog;
  /// Device memory for messages without bytes: one byte leaves, one arrives.
  Buffer nothing;
  /// Hears of each collective of a group, whose size it is told: all its ranks order something.
  std::function<void(int)> on_collective;
};

/// Grouped sends and receives, ordered on the lane's stream: a call returns once they are ordered. Messages of a pair
/// match in order without tags, since each group belongs to one lane. A message to oneself is a copy; an empty one is
/// a byte, so that it still orders its ends. NCCL does not compare the sizes of both ends: where they differ, the
/// watchdog ends the job. Real bytes travel: a phantom buffer is a UsageError.
class GpuCommunicator : public Communicator {
 public:
  /// `world_ranks` are the members in the order of the group, `name` is for error messages: "all ranks".
  GpuCommunicator(std::shared_ptr<NcclGroup> group, std::string name, std::vector<int> world_ranks,
                  std::shared_ptr<const StreamContext> lane);

  int rank() const override { return group_->rank(); }
  int size() const override { return group_->size(); }
  Device& device() override { return lane_->device; }
  void exchange(std::span<const Transfer> transfers) override;
  std::unique_ptr<Communicator> regroup(const GroupPart& part) override;

 protected:
  /// The same kind of communicator on another group.
  virtual std::unique_ptr<Communicator> like_this(std::shared_ptr<NcclGroup> group, std::vector<int> world_ranks) const;
  const std::shared_ptr<const StreamContext>& lane() const { return lane_; }
  const std::string& name() const { return by_->group; }
  /// Orders one collective between two records: "all_reduce" of so many bytes.
  void order(const char* collective, std::int64_t bytes, const std::function<ncclResult_t(ncclComm_t)>& call);

 private:
  void begin(const char* operation, std::int64_t bytes, std::vector<Transfer> transfers);
  void check(const Transfer& transfer) const;
  void copy_to_oneself(std::span<const Transfer> transfers);

  std::shared_ptr<NcclGroup> group_;
  std::shared_ptr<const StreamContext> lane_;
  std::shared_ptr<const Orderer> by_;
  std::int64_t sequence_ = 0;  ///< operations so far, for error messages
};

}  // namespace trigram::gpu
