#include "backends/mpi/runtime.hpp"

#include "backends/mpi/duplicate.hpp"
#include "backends/mpi/memory.hpp"
#include "backends/mpi/vendor.hpp"

namespace trigram::mpi {
namespace {

std::unique_ptr<Communicator> communicator(MPI_Comm comm, const std::string& name,
                                           const std::shared_ptr<LaneContext>& context, bool vendor) {
  if (vendor) return std::make_unique<VendorCommunicator>(comm, name, context);
  return std::make_unique<MpiCommunicator>(comm, name, context);
}

}  // namespace

MpiRuntime::MpiRuntime(const World& world, const RuntimeOptions& options)
    : RankRuntime(options.rank, std::make_shared<RankMap>(world.axes(), options.node_of_rank), world.layout()),
      control_(options.timeout, failure_),
      requests_([this](int lane) -> const LaneContext& { return lanes_->context(lane); }, layout().background(),
                options.timeout, failure_) {
  try {
    require_same_on_all_ranks(world.configuration,
                              [this](const std::vector<std::byte>& own) { return control_.all_gather(own); });
  } catch (const BackendError&) {
    fail(std::current_exception());  // others may still be waiting in what would be freed together
    throw;
  }
  const auto part = [&](int /*lane*/, const Parting& parting, const std::shared_ptr<LaneContext>& context) {
    const auto own = static_cast<std::size_t>(options.rank);
    return communicator(part_of(MPI_COMM_WORLD, parting.color[own], parting.key[own], options.timeout), parting.name,
                        context, options.vendor_collectives);
  };
  lanes_ = std::make_unique<ThreadedLanes>(*this, world, options.timeout, clock_, failure_,
                                           LaneParts{kernels_of_this_process, part});
}

MpiRuntime::~MpiRuntime() = default;

Lane& MpiRuntime::lane(int index) { return lanes_->lane(index); }

Pending MpiRuntime::launch(int lane, std::function<void()> body) {
  layout().require_startable(lane);
  return lanes_->launch(lane, std::move(body));
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
