// A group of ranks that are threads of one process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/process/lane_context.hpp"
#include "backends/threads/network.hpp"
#include "core/communicator.hpp"

namespace trigram::threads {

/// What the communicators of one lane share.
struct LaneOnNetwork {
  std::shared_ptr<Network> network;
  std::shared_ptr<const LaneContext> context;
  int rank;  ///< among all
};

/// One rank's end. Groups of one name on all ranks belong together. A message is copied once, from where its sender has
/// it to where its receiver wants it; phantom buffers are compared by their sizes.
class ThreadCommunicator final : public Communicator {
 public:
  /// `name` is for messages, `world_ranks` by rank of the group; a group of one lane has a `key` that no other has.
  ThreadCommunicator(LaneOnNetwork lane, std::string name, std::string key, std::vector<int> world_ranks);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(world_ranks_.size()); }
  Device& device() override { return lane_.context->device; }
  using Communicator::exchange;
  void exchange(std::span<const Transfer> transfers) override;
  std::unique_ptr<Communicator> split(int color, int key) override;

 private:
  std::vector<std::int64_t> everybodys(std::int64_t value);
  std::shared_ptr<Channel> channel(const Transfer& transfer);
  std::string describe() const;

  LaneOnNetwork lane_;
  std::string name_;
  std::string key_;
  std::vector<int> world_ranks_;
  int rank_;
  int splits_ = 0;
  std::int64_t sequence_ = 0;                       ///< exchanges so far, for messages
  std::vector<std::shared_ptr<Channel>> outgoing_;  ///< by rank, once used
  std::vector<std::shared_ptr<Channel>> incoming_;
};

}  // namespace trigram::threads
