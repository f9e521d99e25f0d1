// One process as one rank of a run: its clock, and its collectives of host bytes.
#pragma once

#include <exception>
#include <vector>

#include "backends/process/host_exchange.hpp"
#include "core/training/backend.hpp"
#include "processes/clock.hpp"

namespace trigram {

/// Base of the runtimes of such ranks, whatever their lanes are. Lives for one run.
class ProcessRuntime : public RankRuntime {
 public:
  double now() const override { return clock_.now(); }
  std::int64_t agree(std::int64_t value, ReduceOp op) override { return host_.agree(value, op); }
  /// Without a timeout: a server may wait while others train.
  void barrier() override { host_.barrier(); }
  /// Blocks all ranks until `complete` has returned on rank 0; each rank's clock stands still meanwhile.
  void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) override;

  /// As EnteredRank::follow.
  virtual void follow(void* /*stream*/) {}
  /// As EnteredRank::stream_of.
  virtual void* stream_of(int /*lane*/) { return nullptr; }
  /// As EnteredRank::begin_step and EnteredRank::tell_end.
  virtual void begin_step(std::int64_t /*begun*/) {}
  virtual void tell_end(std::int64_t /*steps*/) {}
  /// A barrier, after which the clocks of all ranks start.
  virtual void begin();
  /// Waits until all enqueued work has run; this rank's last time in the run, by its clock, in seconds. Collective.
  virtual double end() { return now(); }
  /// Every rank's bytes, on every rank.
  Parts exchange_results(const std::vector<std::byte>& own) { return host_.all_gather(own); }
  /// Reports the first error of this rank, which wakes its lanes; ranks that wait for it learn why.
  virtual void fail(const std::exception_ptr& error) noexcept = 0;
  /// As Transport::mark_lost.
  virtual void mark_lost() noexcept {}

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
