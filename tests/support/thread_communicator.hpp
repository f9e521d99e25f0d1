// A communicator between threads: exchange on channels, everything else by the default bodies.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/communicator.hpp"
#include "tests/support/thread_channel.hpp"
#include "tests/support/thread_mutation.hpp"

namespace trigram {

/// What the communicators of one run share.
struct ThreadNetwork {
  ThreadChannels channels;
  std::chrono::duration<double> timeout{60};
  ThreadMutation mutation = ThreadMutation::none;
};

/// One rank's end of a group of threads. Groups of one name on all ranks belong together.
class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadNetwork> network, std::string group, int rank, int size, Device& device);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Device& device() override { return device_; }
  using Communicator::exchange;
  void exchange(std::span<const Transfer> transfers) override;
  std::unique_ptr<Communicator> split(int color, int key) override;

  /// The values that all ranks of the group bring, in rank order.
  std::vector<std::int64_t> all_gather_values(std::int64_t value);

 private:
  ThreadChannel& outgoing(int peer);
  ThreadChannel& incoming(int peer);
  void send(const Transfer& transfer, std::vector<std::pair<int, std::uint64_t>>& tickets);
  void receive(const Transfer& transfer, ThreadChannel::Deadline deadline);
  [[noreturn]] void time_out(const char* doing, int peer) const;

  std::shared_ptr<ThreadNetwork> network_;
  std::string group_;
  int rank_;
  int size_;
  Device& device_;
  int splits_ = 0;
  std::int64_t sent_ = 0;
  std::vector<std::shared_ptr<ThreadChannel>> outgoing_;
  std::vector<std::shared_ptr<ThreadChannel>> incoming_;
};

}  // namespace trigram
