// One process as one rank of a run: its lanes, its clock, and what it settles with the others.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "backends/gpu/lane_kernels.hpp"
#include "backends/gpu/marks.hpp"
#include "backends/gpu/rank_process.hpp"
#include "backends/process/host_exchange.hpp"
#include "core/backend.hpp"
#include "processes/clock.hpp"

namespace trigram::gpu {

/// How the ranks of a run communicate.
struct RuntimeOptions {
  bool vendor_collectives = false;
  double timeout = 0;  ///< seconds that one operation may take; 0: forever
  std::vector<int> node_of_rank;
};

/// Lives for one run. Making it is collective. Lanes are streams: `launch` orders the body's work behind the main
/// lane's, and `wait` the main lane's behind the body's; neither blocks the host.
class GpuRuntime final : public RankRuntime {
 public:
  GpuRuntime(RankProcess& process, const World& world, const RuntimeOptions& options);
  ~GpuRuntime() override;
  GpuRuntime(const GpuRuntime&) = delete;
  GpuRuntime& operator=(const GpuRuntime&) = delete;

  Lane& lane(int index) override;
  /// The host's clock: work may have been ordered and not yet run.
  double now() const override { return clock_.now(); }
  Pending launch(int lane, std::function<void()> body) override;
  /// The body is ordered as by `launch`, and all that follows on the main lane behind it.
  void run_in_place(int lane, const std::function<void()>& body) override { launch(lane, body).wait(); }
  std::int64_t agree(std::int64_t value, ReduceOp op) override { return control_.agree(value, op); }
  void meet() override { control_.meet(); }
  /// On any thread: CUDA's current device is each thread's own.
  void take_turn() override;
  void give_turn() override;
  /// Waits for the step before the last one: two are under way at most.
  void step_ends() override;
  /// From now on turns follow what is ordered on that stream, and it them.
  void follow(cudaStream_t stream) { followed_ = stream; }
  /// Blocks all ranks until `complete` has returned on rank 0; each rank's clock stands still meanwhile.
  void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) override;

  /// All ranks enter, and their clocks start together.
  void begin();
  /// Throws Error where ranks have started lanes in different orders; collective.
  void require_one_order();
  /// Waits until all that was ordered has run. Throws what went wrong on the device.
  void settle();
  /// Every rank's bytes, on every rank.
  Parts exchange_results(const std::vector<std::byte>& own) { return control_.all_gather(own); }

 private:
  class OwnLane;
  class Body;
  void order(cudaStream_t first, cudaStream_t then);
  void note_start(int lane);

  Clock clock_;
  BodyGuard guard_;
  EventPool events_{Event::Kind::order};
  int device_;
  std::optional<cudaStream_t> followed_;
  std::int64_t started_ = 0;  ///< the lanes that carried buckets, and the main lane between, in order, as one number
  int last_started_ = -1;
  std::deque<Event> steps_;  ///< where those that are under way end on the main lane
  HostExchange control_;
  std::vector<std::unique_ptr<OwnLane>> lanes_;
};

}  // namespace trigram::gpu
