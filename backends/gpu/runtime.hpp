// One process as one rank of a run: its lanes, its clock, and what it settles with the others.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/gpu/lane_kernels.hpp"
#include "backends/gpu/marks.hpp"
#include "backends/gpu/rank_process.hpp"
#include "backends/process/process_runtime.hpp"
#include "core/training/carried_error.hpp"

namespace trigram::gpu {

using Tell = std::function<void(const CarriedError&)>;

/// How the ranks of a run communicate.
struct RuntimeOptions {
  bool vendor_collectives = false;
  double timeout = 0;  ///< seconds that one operation may take; 0: forever
  std::vector<int> node_of_rank;
  Tell tell;  ///< hears of this rank's error before the other ranks do
};

/// Lives for one run. Making it is collective. Lanes are streams: `launch` enqueues the task's work after the main
/// lane's, and `wait` orders the main lane's after the task's; neither blocks the host. Its clock is the host's: work
/// may have been enqueued and not yet run.
class GpuRuntime final : public ProcessRuntime {
 public:
  GpuRuntime(RankProcess& process, const World& world, const RuntimeOptions& options);
  ~GpuRuntime() override;
  GpuRuntime(const GpuRuntime&) = delete;
  GpuRuntime& operator=(const GpuRuntime&) = delete;

  Lane& lane(int index) override;
  Pending launch(int lane, std::function<void()> task) override;
  /// The task is enqueued as by `launch`, and all that follows on the main lane after it.
  void run_in_place(int lane, const std::function<void()>& task) override { launch(lane, task).wait(); }
  /// On any thread: CUDA's current device is each thread's own.
  void take_turn() override;
  void give_turn() override;
  /// Waits for the step before the last one: two are under way at most.
  void step_ends() override;
  /// From now on turns run after what was enqueued on that stream, and what is enqueued there later runs after them.
  void follow(void* stream) override { followed_ = static_cast<cudaStream_t>(stream); }
  void* stream_of(int lane) override;

  void begin() override;
  /// Waits until all that was enqueued has run. Throws what went wrong on the device, and Error where ranks have
  /// started lanes in different orders.
  double end() override;
  void fail(const std::exception_ptr& error) noexcept override;

 private:
  class OwnLane;
  class Body;
  void make_lanes(const World& world, const RuntimeOptions& options);
  void order(cudaStream_t first, cudaStream_t then);
  void note_start(int lane);
  void require_one_order();
  void settle();

  RankProcess& process_;
  Tell tell_;
  BodyGuard guard_;
  EventPool events_{Event::Kind::order};
  std::optional<cudaStream_t> followed_;
  std::int64_t started_ = 0;  ///< the lanes that carried buckets, and the main lane between, in order, as one number
  int last_started_ = -1;
  std::deque<Event> steps_;  ///< where those that are under way end on the main lane
  std::vector<std::unique_ptr<OwnLane>> lanes_;
};

}  // namespace trigram::gpu
