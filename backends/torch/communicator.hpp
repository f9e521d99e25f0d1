// A group of ranks whose messages torch.distributed carries.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/process/process_communicator.hpp"
#include "backends/torch/point_to_point.hpp"

namespace trigram::torch {

/// The tags of one rank and lane. Groups have their own. Where the network does not tell unequal sizes, so have sizes,
/// as far as a tag's bits reach: such messages do not meet but where they differ by a multiple of 65,521 bytes.
class LaneTags {
 public:
  explicit LaneTags(bool keep_sizes_apart) : keep_sizes_apart_(keep_sizes_apart) {}

  std::int64_t groups() const { return groups_; }
  void use_groups(std::int64_t count) { groups_ = count; }
  /// Of messages of `bytes` bytes in the group of that number.
  std::int64_t tag(std::int64_t group, std::int64_t bytes) const;

 private:
  bool keep_sizes_apart_;
  std::int64_t groups_ = 0;  ///< numbers that are taken, in some group of this lane
};

/// What the communicators of one lane share. Its connections outlive them all.
struct LaneLine {
  int index;
  const PointToPoint& point_to_point;
  std::shared_ptr<const LaneContext> context;
  LaneTags tags;
};

/// Sends and receives on a lane that only one thread uses at a time. Real bytes travel: a phantom buffer is a
/// UsageError.
class TorchCommunicator final : public ProcessCommunicator {
 public:
  /// `world_ranks` by rank of the group; `group` is its number among those of the lane, the same for all members.
  TorchCommunicator(std::string name, std::vector<int> world_ranks, std::int64_t group, std::shared_ptr<LaneLine> line);

  void exchange(std::span<const Transfer> transfers) override;
  std::vector<int> exchange_with_those_there(std::span<const Transfer> transfers) override;
  bool with_all_there(const std::function<void()>& collectives) override;

 private:
  std::unique_ptr<Communicator> make_part(std::string name, const std::vector<int>& members, int part) override;
  /// To others, once what goes to this rank itself is there.
  std::vector<Message> begun(std::span<const Transfer> transfers);
  std::vector<Message> messages_of(std::span<const Transfer> transfers) const;
  std::vector<int> peers_of(std::span<const Message> messages, std::span<const std::size_t> places) const;
  void copy_to_itself(std::span<const Transfer> transfers);

  std::int64_t group_;
  std::shared_ptr<LaneLine> line_;
};

}  // namespace trigram::torch
