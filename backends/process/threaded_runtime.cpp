#include "backends/process/threaded_runtime.hpp"

#include <utility>

#include "core/values/error.hpp"

namespace trigram {

ThreadedRuntime::ThreadedRuntime(std::unique_ptr<Transport> transport, const World& world,
                                 std::vector<int> node_of_rank, double timeout)
    : ProcessRuntime(transport->host(), world, std::move(node_of_rank), timeout),
      transport_(std::move(transport)),
      requests_(
          transport_->mail(), host(), [this](int lane) -> const LaneContext& { return lanes_->context(lane); },
          layout().background()) {
  try {
    require_one_configuration(world);
  } catch (const UsageError&) {
    throw;  // every rank finds it itself
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
  try {
    transport_->connect(lanes());
    lanes_ = std::make_unique<ThreadedLanes>(*this, world, timeout, clock(), *transport_);
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
}

Pending ThreadedRuntime::launch(int lane, std::function<void()> task) {
  layout().require_startable(lane);
  return lanes_->launch(lane, std::move(task));
}

bool ThreadedRuntime::barrier_with_all_there() {
  try {
    barrier();
    return true;
  } catch (const BackendError&) {
    if (!transport_->leaves_out()) throw;
    transport_->end_messages();
    return false;
  }
}

void ThreadedRuntime::begin_step(std::int64_t begun) {
  if (Endings* const endings = transport_->endings()) endings->begin_step(begun);
}

void ThreadedRuntime::tell_end(std::int64_t steps) {
  if (Endings* const endings = transport_->endings()) endings->tell(steps);
}

void ThreadedRuntime::stop_lanes() {
  transport_->failure().release();
  RankRuntime::stop_lanes();
}

void ThreadedRuntime::fail(const std::exception_ptr& error) noexcept {
  transport_->failure().report(error);
  transport_->fail(error);
}

}  // namespace trigram
