#include "backends/mpi/runtime.hpp"

#include "backends/mpi/duplicate.hpp"
#include "backends/mpi/memory.hpp"
#include "backends/mpi/vendor.hpp"
#include "core/error.hpp"

namespace trigram::mpi {
namespace {

std::unique_ptr<Communicator> communicator(MPI_Comm comm, const std::string& name,
                                           const std::shared_ptr<LaneContext>& context, bool vendor) {
  if (vendor) return std::make_unique<VendorCommunicator>(comm, name, context);
  return std::make_unique<MpiCommunicator>(comm, name, context);
}

}  // namespace

/// A lane and its thread, which ends first. The main lane has none: it is the thread that runs the rank.
struct MpiRuntime::OwnLane {
  OwnLane(int index, const World& world, const RuntimeOptions& options, const Clock& clock, Failure& failure)
      : lane(
            index, [&clock] { return clock.now(); }, world.keep_spans) {
    lane.device = std::make_unique<Device>(kernels_of_this_process(), lane.timeline);
    context =
        std::make_shared<LaneContext>(lane_name(index, world.bucket_lanes), options.timeout, failure, *lane.device);
    const auto make = [&](MPI_Comm comm, const char* name) {
      auto made = metered(communicator(comm, name, context, options.vendor_collectives), lane.meter, lane.timeline);
      made->use_all_reduce(world.all_reduce);
      return made;
    };
    const Placement& place = options.place;
    lane.comm = make(duplicate_of_world(options.timeout), "all ranks");
    lane.node = make(part_of(MPI_COMM_WORLD, place.node, place.rank, options.timeout), "node");
    lane.leaders = make(part_of(MPI_COMM_WORLD, place.local_rank, place.node, options.timeout), "leaders");
    if (index > 0) thread = std::make_unique<LaneThread>(failure);
  }

  Lane lane;
  std::shared_ptr<LaneContext> context;
  std::unique_ptr<LaneThread> thread;
};

MpiRuntime::MpiRuntime(const World& world, const RuntimeOptions& options)
    : control_(options.timeout, failure_),
      requests_([this](int lane) -> const LaneContext& { return *lanes_[static_cast<std::size_t>(lane)]->context; },
                world.bucket_lanes + 1, options.timeout, failure_) {
  try {
    require_same_on_all_ranks(world.configuration,
                              [this](const std::vector<std::byte>& own) { return control_.all_gather(own); });
  } catch (const BackendError&) {
    fail(std::current_exception());  // others may still be waiting in what would be freed together
    throw;
  }
  const int background_lane = world.bucket_lanes + 1;
  for (int index = 0; index <= background_lane; ++index) {
    lanes_.push_back(std::make_unique<OwnLane>(index, world, options, clock_, failure_));
  }
}

MpiRuntime::~MpiRuntime() = default;

Lane& MpiRuntime::lane(int index) { return lanes_.at(static_cast<std::size_t>(index))->lane; }

Pending MpiRuntime::launch(int lane, std::function<void()> body) {
  OwnLane& own = *lanes_.at(static_cast<std::size_t>(lane));
  ensure(own.thread != nullptr, "the main lane runs the rank's body; launch on lanes 1 and above");
  return own.thread->launch(std::move(body));
}

void MpiRuntime::stop_lanes() {
  failure_.release();
  RankRuntime::stop_lanes();
}

void MpiRuntime::collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) {
  const Clock::Stop stop(clock_);
  Parts parts = control_.gather(key, part);
  if (control_.rank() == 0) complete(std::move(parts));
  control_.meet();
}

void MpiRuntime::begin() {
  control_.agree(0, ReduceOp::sum);
  clock_.restart();
}

}  // namespace trigram::mpi
