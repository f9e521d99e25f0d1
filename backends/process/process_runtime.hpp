// One process as one rank of a run: its clock, and what it settles with the others.
#pragma once

#include <exception>
#include <vector>

#include "backends/process/host_exchange.hpp"
#include "core/training/backend.hpp"
#include "processes/clock.hpp"

namespace trigram {

/// Whatever its lanes are. Lives for one run.
class ProcessRuntime : public RankRuntime {
 public:
  double now() const override { return clock_.now(); }
  std::int64_t agree(std::int64_t value, ReduceOp op) override { return host_.agree(value, op); }
  /// As long as it takes: a server may wait while others train.
  void meet() override { host_.meet(); }
  /// Blocks all ranks until `complete` has returned on rank 0; each rank's clock stands still meanwhile.
  void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) override;

  /// As EnteredRank::follow.
  virtual void follow(void* /*stream*/) {}
  /// All ranks enter, and their clocks start together.
  virtual void begin();
  /// All that was ordered has run: this rank's last moment in the run, by its clock. Collective.
  virtual double end() { return now(); }
  /// Every rank's bytes, on every rank.
  Parts exchange_results(const std::vector<std::byte>& own) { return host_.all_gather(own); }
  /// The first error of this rank, which releases its lanes; ranks that wait for it learn why.
  virtual void fail(const std::exception_ptr& error) noexcept = 0;
  /// As Transport::forsake.
  virtual void forsake() noexcept {}

 protected:
  /// The group outlives it. `timeout`: seconds that one operation may wait; 0: forever.
  ProcessRuntime(HostGroup& group, const World& world, std::vector<int> node_of_rank, double timeout);

  /// Throws UsageError on every rank where some were given another configuration. Collective, before lanes are made.
  void require_one_configuration(const World& world);
  HostExchange& host() { return host_; }
  const Clock& clock() const { return clock_; }

 private:
  Clock clock_;
  HostExchange host_;
};

}  // namespace trigram
