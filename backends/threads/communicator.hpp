// A group of ranks that are threads of one process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/process/process_communicator.hpp"
#include "backends/threads/network.hpp"

namespace trigram::threads {

/// One rank's end. Groups of one name on all ranks belong together. A message is copied once, from where its sender has
/// it to where its receiver wants it. Real bytes travel: a phantom buffer is a UsageError.
class ThreadCommunicator final : public ProcessCommunicator {
 public:
  /// As ProcessCommunicator's; a group of one lane has a `key` that no other has.
  ThreadCommunicator(std::shared_ptr<Network> network, std::string key, std::string name, std::vector<int> world_ranks,
                     int own, LaneOfGroup lane);

  void exchange(std::span<const Transfer> transfers) override;

 private:
  std::unique_ptr<Communicator> make_part(std::string name, const std::vector<int>& members, int part) override;
  std::shared_ptr<Channel> channel(const Transfer& transfer);

  std::shared_ptr<Network> network_;
  std::string key_;
  int splits_ = 0;
  std::vector<std::shared_ptr<Channel>> outgoing_;  ///< by rank, once used
  std::vector<std::shared_ptr<Channel>> incoming_;
};

}  // namespace trigram::threads
