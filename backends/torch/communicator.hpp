// A group of ranks whose messages torch.distributed carries.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/torch/carrier.hpp"
#include "core/communicator.hpp"

namespace trigram::torch {

/// The tags of one rank and lane. Groups and sizes have their own, as far as a tag's bits reach: messages of unequal
/// sizes do not meet but where these differ by a multiple of 65,521 bytes, and torch.distributed would end the process
/// of the one that receives too much.
class LaneTags {
 public:
  std::int64_t groups() const { return groups_; }
  void use_groups(std::int64_t count) { groups_ = count; }
  /// Of messages of `bytes` bytes in the group of that number.
  std::int64_t tag(std::int64_t group, std::int64_t bytes) const;

 private:
  std::int64_t groups_ = 0;  ///< numbers that are taken, in some group of this lane
};

/// What the communicators of one lane share. The carrier outlives them all.
struct LaneLine {
  int index;
  const Carrier& carrier;
  std::shared_ptr<const LaneContext> context;
  LaneTags tags = {};
};

/// Sends and receives on a lane that only one thread uses at a time. Real bytes travel: a phantom buffer is a
/// UsageError.
class TorchCommunicator final : public Communicator {
 public:
  /// `world_ranks` by rank of the group; `group` is its number among those of the lane, the same for all members.
  TorchCommunicator(std::string name, std::vector<int> world_ranks, std::int64_t group, std::shared_ptr<LaneLine> line);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(world_ranks_.size()); }
  Device& device() override { return line_->context->device; }
  void exchange(std::span<const Transfer> transfers) override;
  std::unique_ptr<Communicator> split(int color, int key) override;

 private:
  std::vector<Message> messages_of(std::span<const Transfer> transfers) const;
  void check(const Transfer& transfer) const;
  void copy_to_itself(std::span<const Transfer> transfers);
  std::string describe() const;

  std::string name_;
  std::vector<int> world_ranks_;
  std::int64_t group_;
  std::shared_ptr<LaneLine> line_;
  int rank_;
  std::int64_t sequence_ = 0;  ///< exchanges so far, for messages
};

}  // namespace trigram::torch
