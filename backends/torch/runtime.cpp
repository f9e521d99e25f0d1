#include "backends/torch/runtime.hpp"

#include <utility>

#include "backends/torch/meeting.hpp"
#include "core/lane_groups.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram::torch {
namespace {

/// Who waits for a rank that hangs in an exchange lets that exchange say so first. Seconds.
constexpr double longer_for_the_meeting = 5;

std::string text_of_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "something was thrown that is no error and has no message";
  }
}

}  // namespace

TorchRuntime::TorchRuntime(const Transport& transport, const World& world, const Place& place,
                           std::vector<int> node_of_rank, double timeout)
    : RankRuntime(place.rank, std::make_shared<RankMap>(world.axes(), std::move(node_of_rank)), world.layout()),
      connections_(transport, timeout),
      rendezvous_(meet_beside(connections_, place, timeout)),
      control_(*rendezvous_, Patience{timeout > 0 ? timeout + longer_for_the_meeting : 0}) {
  require_same_on_all_ranks(world.configuration,
                            [this](const std::vector<std::byte>& own) { return control_.all_gather(own); });
  try {
    make_lanes(world, timeout);
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
}

void TorchRuntime::make_lanes(const World& world, double timeout) {
  connections_.connect(lanes());
  carrier_ = std::make_unique<Carrier>(connections_, *rendezvous_, failure_);
  std::shared_ptr<LaneLine> line;
  const auto part = [&](int lane, const Parting& parting, const std::shared_ptr<LaneContext>& context) {
    if (line == nullptr || line->index != lane) line = std::make_shared<LaneLine>(LaneLine{lane, *carrier_, context});
    const std::int64_t number = line->tags.groups();
    line->tags.use_groups(number + 1);
    return std::make_unique<TorchCommunicator>(parting.name, parting.group_of(rank()), number, line);
  };
  lanes_ = std::make_unique<ThreadedLanes>(*this, world, timeout, clock_, failure_, LaneParts{cpu_kernels, part});
  watch_ = std::make_unique<FailureWatch>(*carrier_, *rendezvous_, failure_);
  requests_ = std::make_unique<TorchRequests>(
      RequestsPlace{world.ranks, layout().background(), lanes(), *carrier_,
                    [this](int lane) -> const LaneContext& { return lanes_->context(lane); },
                    [this](bool serves) { return connect_requests(serves); }});
}

std::set<int> TorchRuntime::connect_requests(bool serves) {
  const Parts told = control_.all_gather({std::byte{serves}});  // first, since it hears of ranks that fail
  connections_.connect(lanes() + 1);
  std::set<int> serving;
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    if (told[rank].front() != std::byte{0}) serving.insert(static_cast<int>(rank));
  }
  return serving;
}

Pending TorchRuntime::launch(int lane, std::function<void()> body) {
  layout().require_startable(lane);
  return lanes_->launch(lane, std::move(body));
}

void TorchRuntime::stop_lanes() {
  failure_.release();
  RankRuntime::stop_lanes();
}

void TorchRuntime::collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) {
  const Clock::Stop stop(clock_);
  Parts parts = control_.gather(key, part);
  if (rank() == 0) complete(std::move(parts));
  control_.meet();
}

void TorchRuntime::begin() {
  control_.agree(0, ReduceOp::sum);
  clock_.restart();
}

void TorchRuntime::fail(const std::exception_ptr& error) noexcept {
  rendezvous_->publish({rank(), text_of_error(error)});
  failure_.report(error);
  if (carrier_ != nullptr) carrier_->end_all();
}

}  // namespace trigram::torch
