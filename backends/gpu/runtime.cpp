#include "backends/gpu/runtime.hpp"

#include <exception>
#include <utility>

#include "backends/gpu/vendor.hpp"
#include "core/values/error.hpp"
#include "kernels/cuda/runtime/check.hpp"

namespace trigram::gpu {
namespace {

std::unique_ptr<Communicator> communicator(const GroupOfLane& group,
                                           const std::shared_ptr<const StreamContext>& context, bool vendor) {
  if (vendor) return std::make_unique<VendorCommunicator>(group.group, group.name, group.world_ranks, context);
  return std::make_unique<GpuCommunicator>(group.group, group.name, group.world_ranks, context);
}

}  // namespace

/// A lane on its stream.
class GpuRuntime::OwnLane {
 public:
  OwnLane(int index, const World& world, const RankRuntime& owner, const RuntimeOptions& options,
          LaneChannels& channels, Watchdog& watchdog, const Clock& clock, const BodyGuard& guard,
          std::function<void(int)> on_collective)
      : lane(index, world, [&clock] { return clock.now(); }), stream(channels.stream.get()) {
    const std::string name = world.layout().name_of(index);
    lane.device = std::make_unique<Device>(std::make_shared<LaneKernels>(stream, guard, name), lane.timeline);
    auto own_marks = std::make_unique<StreamMarks>(stream, clock);
    marks = own_marks.get();
    lane.timeline.use_marks(std::move(own_marks));
    constexpr std::int64_t one_leaves_one_arrives = 2;
    nothing = lane.device->allocate(Shape::of(one_leaves_one_arrives, DType::u8));
    const auto context = std::make_shared<StreamContext>(
        StreamContext{index, name, stream, *lane.device, watchdog, nothing.view(), std::move(on_collective)});
    lane.join_groups(world, owner.map(), owner.rank(), [&](std::size_t group) {
      return communicator(channels.groups[group], context, options.vendor_collectives);
    });
  }

  Lane lane;
  cudaStream_t stream;
  StreamMarks* marks = nullptr;  ///< the timeline's
  std::exception_ptr failed;     ///< of the first task that failed: none is enqueued after it
  OwnedBuffer nothing;
};

/// A task that was enqueued: where it ends, and what it threw.
class GpuRuntime::Body final : public Pending::State {
 public:
  Body(Event end, std::exception_ptr error, cudaStream_t main, EventPool& pool)
      : end_(std::move(end)), error_(std::move(error)), main_(main), pool_(pool) {}
  ~Body() override { pool_.give_back(std::move(end_)); }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  bool done() override { return end_.passed(); }
  void wait() override {
    end_.hold_back(main_);
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  Event end_;
  std::exception_ptr error_;
  cudaStream_t main_;
  EventPool& pool_;
};

GpuRuntime::GpuRuntime(RankProcess& process, const World& world, const RuntimeOptions& options)
    : ProcessRuntime(process.rendezvous(), world, options.node_of_rank, options.timeout),
      process_(process),
      tell_(options.tell) {
  try {
    require_one_configuration(world);
    make_lanes(world, options);
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
}

void GpuRuntime::make_lanes(const World& world, const RuntimeOptions& options) {
  // The thread may be another than the process began with.
  cuda::check(cudaSetDevice(process_.device()), "cudaSetDevice");
  const std::vector<LaneChannels*> channels = process_.channels(lanes(), lane_groups(map()), options.timeout);
  for (int index = 0; index < lanes(); ++index) {
    // Of the main lane's groups only that of all ranks says the same on all of them.
    const auto on_collective = [this, index, world_ranks = options.node_of_rank.size()](int ranks) {
      const bool of_all = static_cast<std::size_t>(ranks) == world_ranks;
      if (index == 0 && of_all && last_started_ != 0) note_start(0);
    };
    lanes_.push_back(std::make_unique<OwnLane>(index, world, *this, options, *channels[static_cast<std::size_t>(index)],
                                               process_.watchdog(), clock(), guard_, on_collective));
  }
}

GpuRuntime::~GpuRuntime() = default;

Lane& GpuRuntime::lane(int index) { return lanes_.at(static_cast<std::size_t>(index))->lane; }

void* GpuRuntime::stream_of(int lane) { return lanes_.at(static_cast<std::size_t>(lane))->stream; }

/// Orders what is enqueued on `then` from now on after what has been enqueued on `first`.
void GpuRuntime::order(cudaStream_t first, cudaStream_t then) {
  Event issued = events_.take();
  issued.record(first);
  issued.hold_back(then);
  events_.give_back(std::move(issued));
}

void GpuRuntime::take_turn() {
  cuda::check(cudaSetDevice(process_.device()), "cudaSetDevice");
  if (followed_) order(*followed_, lanes_.front()->stream);
}

void GpuRuntime::give_turn() {
  if (followed_) order(lanes_.front()->stream, *followed_);
}

void GpuRuntime::step_ends() {
  constexpr std::size_t under_way = 2;
  Event end = events_.take();
  end.record(lanes_.front()->stream);
  steps_.push_back(std::move(end));
  if (steps_.size() <= under_way) return;
  steps_.front().wait();
  events_.give_back(std::move(steps_.front()));
  steps_.pop_front();
}

/// Kernels of NCCL start in the order in which the host enqueued them, whichever group they are of, and wait for their
/// peers: ranks that enqueue groups in different orders could each hold up what another waits for. The background lane
/// is left out, since nothing else is enqueued for it to wait for.
void GpuRuntime::note_start(int lane) {
  constexpr std::uint64_t prime = 0x100000001b3, room = std::uint64_t{1} << 62U;
  if (lane == layout().background()) return;
  last_started_ = lane;
  started_ = static_cast<std::int64_t>(
      (static_cast<std::uint64_t>(started_) * prime + static_cast<std::uint64_t>(lane) + 1) % room);
}

void GpuRuntime::require_one_order() {
  const std::int64_t least = agree(started_, ReduceOp::min);
  const std::int64_t most = agree(started_, ReduceOp::max);
  ensure(
      least == most,
      "ranks have started lanes in different orders; on GPUs all ranks must start tasks on the lanes of "
      "buckets, and between them collectives of all ranks on the main lane, in the same order, or kernels of NCCL may "
      "wait for each other for ever");
}

Pending GpuRuntime::launch(int lane, std::function<void()> task) {
  layout().require_startable(lane);
  ensure(!guard_.inside, "start() was called inside a lane task; only the main lane starts tasks");
  note_start(lane);
  const cudaStream_t main = lanes_.front()->stream;
  OwnLane& its = *lanes_[static_cast<std::size_t>(lane)];
  const cudaStream_t own = its.stream;
  order(main, own);
  guard_.inside = true;
  try {
    if (its.failed == nullptr) task();
  } catch (...) {
    its.failed = std::current_exception();
  }
  guard_.inside = false;
  Event end = events_.take();
  end.record(own);
  return Pending(std::make_unique<Body>(std::move(end), its.failed, main, events_));
}

void GpuRuntime::begin() {
  settle();
  ProcessRuntime::begin();
  for (const auto& lane : lanes_) lane->marks->restart();
}

double GpuRuntime::end() {
  take_turn();
  settle();
  const double ended = now();
  require_one_order();
  return ended;
}

void GpuRuntime::fail(const std::exception_ptr& error) noexcept {
  const CarriedError carried = CarriedError::of(error);
  tell_(carried);
  process_.fail(carried.text());
}

void GpuRuntime::settle() {
  for (const auto& lane : lanes_) lane->lane.device->synchronize();
}

}  // namespace trigram::gpu
