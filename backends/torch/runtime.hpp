// One process as one rank: its lanes, its clock, and what it settles with the others.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "backends/torch/communicator.hpp"
#include "backends/torch/place.hpp"
#include "backends/torch/requests.hpp"
#include "backends/torch/watch.hpp"
#include "core/backend.hpp"
#include "meeting/host_exchange.hpp"
#include "processes/threaded_lanes.hpp"

namespace trigram::torch {

/// Lives for one run. Making it is collective: ranks meet at a place that rank 0 has told by torch.distributed, compare
/// what they were given, and then every lane gets connections of its own. Buffers' bytes go by torch.distributed, and
/// signs of life, settings and results by the meeting place.
class TorchRuntime final : public RankRuntime {
 public:
  /// `timeout`: seconds that one operation may wait; 0: forever.
  TorchRuntime(const Transport& transport, const World& world, const Place& place, std::vector<int> node_of_rank,
               double timeout);
  ~TorchRuntime() override = default;
  TorchRuntime(const TorchRuntime&) = delete;
  TorchRuntime& operator=(const TorchRuntime&) = delete;

  Lane& lane(int index) override { return lanes_->lane(index); }
  double now() const override { return clock_.now(); }
  Pending launch(int lane, std::function<void()> body) override;
  std::int64_t agree(std::int64_t value, ReduceOp op) override { return control_.agree(value, op); }
  void meet() override { control_.meet(); }
  Requests& requests() override { return *requests_; }
  void stop_lanes() override;
  /// Blocks all ranks until `complete` has returned on rank 0; each rank's clock stands still meanwhile.
  void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) override;

  /// All ranks enter, and their clocks start together.
  void begin();
  /// Every rank's bytes, on every rank.
  Parts exchange_results(const std::vector<std::byte>& own) { return control_.all_gather(own); }
  /// The first error of this rank, which releases its lanes and those of others.
  void fail(const std::exception_ptr& error) noexcept;

 private:
  void make_lanes(const World& world, double timeout);
  /// Gives requests their own connections, and tells which ranks serve. Collective.
  std::set<int> connect_requests(bool serves);

  Failure failure_;
  Clock clock_;
  Connections connections_;
  std::unique_ptr<Rendezvous> rendezvous_;
  HostExchange control_;
  std::unique_ptr<Carrier> carrier_;
  std::unique_ptr<FailureWatch> watch_;
  std::unique_ptr<TorchRequests> requests_;
  std::unique_ptr<ThreadedLanes> lanes_;  ///< which end while somebody can still wake them
};

}  // namespace trigram::torch
