#include "backends/mpi/runtime.hpp"

#include "backends/mpi/duplicate.hpp"
#include "backends/mpi/memory.hpp"
#include "backends/mpi/vendor.hpp"
#include "core/lane_groups.hpp"

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
  OwnLane(int index, const World& world, const RankMap& map, const RuntimeOptions& options,
          const std::vector<Parting>& partings, const Clock& clock, Failure& failure)
      : lane(index, world, [&clock] { return clock.now(); }) {
    lane.device = std::make_unique<Device>(kernels_of_this_process(), lane.timeline);
    context = std::make_shared<LaneContext>(world.layout().name_of(index), options.timeout, failure, *lane.device);
    lane.join_groups(world, map, options.rank, [&](std::size_t group) {
      const Parting& parting = partings[group];
      const auto rank = static_cast<std::size_t>(options.rank);
      return communicator(part_of(MPI_COMM_WORLD, parting.color[rank], parting.key[rank], options.timeout),
                          parting.name, context, options.vendor_collectives);
    });
    if (index > 0) thread = std::make_unique<LaneThread>(failure);
  }

  Lane lane;
  std::shared_ptr<LaneContext> context;
  std::unique_ptr<LaneThread> thread;
};

MpiRuntime::MpiRuntime(const World& world, const RuntimeOptions& options)
    : RankRuntime(options.rank, std::make_shared<RankMap>(world.axes(), options.node_of_rank), world.layout()),
      control_(options.timeout, failure_),
      requests_([this](int lane) -> const LaneContext& { return *lanes_[static_cast<std::size_t>(lane)]->context; },
                layout().background(), options.timeout, failure_) {
  try {
    require_same_on_all_ranks(world.configuration,
                              [this](const std::vector<std::byte>& own) { return control_.all_gather(own); });
  } catch (const BackendError&) {
    fail(std::current_exception());  // others may still be waiting in what would be freed together
    throw;
  }
  const std::vector<Parting> partings = lane_groups(map());
  for (int index = 0; index < lanes(); ++index)
    lanes_.push_back(std::make_unique<OwnLane>(index, world, map(), options, partings, clock_, failure_));
}

MpiRuntime::~MpiRuntime() = default;

Lane& MpiRuntime::lane(int index) { return lanes_.at(static_cast<std::size_t>(index))->lane; }

Pending MpiRuntime::launch(int lane, std::function<void()> body) {
  layout().require_startable(lane);
  return lanes_[static_cast<std::size_t>(lane)]->thread->launch(std::move(body));
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
