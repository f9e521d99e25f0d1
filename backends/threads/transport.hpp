// A rank's end of a network of threads, for one run.
#pragma once

#include <memory>

#include "backends/process/transport.hpp"
#include "backends/threads/network.hpp"

namespace trigram::threads {

/// All of it is memory that ranks share.
class ThreadTransport final : public Transport, private HostGroup, private Mail {
 public:
  ThreadTransport(std::shared_ptr<Network> network, int rank) : network_(std::move(network)), rank_(rank) {}

  HostGroup& host() override { return *this; }
  std::unique_ptr<Communicator> communicator(int lane, const RankPartition& partition,
                                             const std::shared_ptr<LaneContext>& context) override;
  Mail& mail() override { return *this; }
  void fail(const std::exception_ptr& error) noexcept override { network_->ending.fail(rank_, error); }

 private:
  int rank() const override { return rank_; }
  int ranks() const override { return network_->gatherings.ranks(); }
  Parts all_gather(const Bytes& own, Patience patience) override;
  Parts gather(const Bytes& own, Patience patience) override;

  void open(bool /*serves*/) override {}
  void carry(std::span<const TaggedMessage> messages, const LaneContext& lane, const std::string& operation) override;
  std::pair<int, Envelope> take(const LaneContext& lane, double seconds, const std::string& operation,
                                const std::string& what) override;

  std::shared_ptr<Network> network_;
  int rank_;
};

}  // namespace trigram::threads
