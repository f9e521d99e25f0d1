// One process as one rank: its lanes, its clock, and what it settles with the others.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/mpi/control.hpp"
#include "backends/mpi/requests.hpp"
#include "core/backend.hpp"
#include "processes/clock.hpp"
#include "processes/threaded_lanes.hpp"

namespace trigram::mpi {

/// How the ranks of a run communicate.
struct RuntimeOptions {
  bool vendor_collectives = false;
  double timeout = 0;  ///< seconds that one operation may wait; 0: forever
  int rank = 0;        ///< that this process is
  std::vector<int> node_of_rank;
};

/// Lives for one run. Making it is collective: every lane gets communicators of its own, before training starts.
class MpiRuntime final : public RankRuntime {
 public:
  MpiRuntime(const World& world, const RuntimeOptions& options);
  ~MpiRuntime() override;
  MpiRuntime(const MpiRuntime&) = delete;
  MpiRuntime& operator=(const MpiRuntime&) = delete;

  Lane& lane(int index) override;
  double now() const override { return clock_.now(); }
  Pending launch(int lane, std::function<void()> body) override;
  std::int64_t agree(std::int64_t value, ReduceOp op) override { return control_.agree(value, op); }
  /// Without a watchdog: a server may wait for as long as others train.
  void meet() override { control_.meet(); }
  Requests& requests() override { return requests_; }
  void stop_lanes() override;
  /// Blocks all ranks until `complete` has returned on rank 0; each rank's clock stands still meanwhile.
  void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) override;

  /// All ranks enter, and their clocks start together.
  void begin();
  /// Every rank's bytes, on every rank.
  Parts exchange_results(const std::vector<std::byte>& own) { return control_.all_gather(own); }
  /// The first error of this rank, which releases its lanes.
  void fail(std::exception_ptr error) { failure_.report(std::move(error)); }

 private:
  Failure failure_;
  Clock clock_;
  Control control_;
  MpiRequests requests_;
  std::unique_ptr<ThreadedLanes> lanes_;
};

}  // namespace trigram::mpi
