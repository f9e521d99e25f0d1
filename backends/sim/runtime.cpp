// Lanes as long-lived actors, each with a queue of tasks.
#include "backends/sim/runtime.hpp"

#include <exception>

#include "backends/sim/communicator/communicator.hpp"
#include "backends/sim/device.hpp"
#include "backends/sim/engine/blocking.hpp"
#include "backends/sim/simulation.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

/// One started task.
struct Runtime::Task {
  std::function<void()> body;
  std::int64_t step = 0;  ///< of LaneWork
  bool done = false;
  std::exception_ptr error;
};

/// The actor of a lane and what it still has to do.
struct Runtime::Stream {
  std::deque<std::shared_ptr<Task>> queue;
  sg::SemaphorePtr work = sg::Semaphore::create(0);
  sg::SemaphorePtr ended = sg::Semaphore::create(0);
  sg::ActorPtr actor;  ///< held, as those of ranks
  bool idle = false;   ///< waits for work
  bool waited_for = false;
  std::exception_ptr failed;  ///< of the first task that failed: none runs after it
};

namespace {

class LanePending final : public Pending::State {
 public:
  LanePending(std::shared_ptr<Runtime::Task> task, Runtime::Stream& stream, Simulation& simulation,
              BlockedOp& of_starter, int lane)
      : task_(std::move(task)), stream_(stream), simulation_(simulation), of_starter_(of_starter), lane_(lane) {}

  bool done() override;
  void wait() override;

 private:
  std::shared_ptr<Runtime::Task> task_;
  Runtime::Stream& stream_;
  Simulation& simulation_;
  BlockedOp& of_starter_;
  int lane_;
};

bool LanePending::done() {
  // Polling takes an instant, so that a rank that polls in a loop lets the lane's actor run.
  blocking([] { sg::this_actor::yield(); });
  return task_->done;
}

void LanePending::wait() {
  // A rank that unwinds ends the run in this instant, its main lane by itself and others where it has network lanes;
  // nothing that it waited for would come.
  if (std::uncaught_exceptions() > 0) return;
  if (!task_->done) {
    const Blocked blocked(of_starter_, lane_);
    const Standstill::Rest rest(simulation_.watch().standstill());
    blocking([&] {
      while (!task_->done) {
        stream_.waited_for = true;
        stream_.ended->acquire();
      }
    });
  }
  if (!task_->error) return;
  simulation_.failures().forget(task_->error);
  std::rethrow_exception(task_->error);
}

}  // namespace

Runtime::Runtime(Simulation& simulation, int rank, const std::vector<GroupsOfLane>& groups, Ends& ends)
    : RankRuntime(rank, simulation.map(), simulation.layout()),
      simulation_(simulation),
      requests_(simulation, ends, *this, rank) {
  const Cluster& cluster = simulation.cluster();
  for (int index = 0; index < lanes(); ++index) {
    auto lane = std::make_unique<Lane>(index, simulation.world(), [] { return sg::Engine::get_clock(); });
    lane->device = make_device(cluster, simulation.gpu(rank), lane->timeline);
    lane->join_groups(simulation.world(), map(), rank, [&](std::size_t place) {
      const GroupMember& member = groups[static_cast<std::size_t>(index)][place][static_cast<std::size_t>(rank)];
      return std::make_unique<SimCommunicator>(member.group, member.rank, *lane->device, cluster.fluid);
    });
    lanes_.push_back(std::move(lane));
    streams_.emplace_back();
  }
}

Runtime::~Runtime() = default;

Lane& Runtime::lane(int index) { return *lanes_.at(static_cast<std::size_t>(index)); }

double Runtime::now() const { return simulation_.now(); }

double Runtime::take_busy_seconds() { return simulation_.gpu(rank()).take_busy_seconds(); }

Pending Runtime::launch(int lane, std::function<void()> work) {
  layout().require_startable(lane);
  std::unique_ptr<Stream>& stream = streams_[static_cast<std::size_t>(lane)];
  auto task = std::make_shared<Task>();
  task->body = std::move(work);
  task->step = simulation_.work(rank(), layout().starter_of(lane)).step;
  blocking([&] {
    if (stream == nullptr) {
      stream = std::make_unique<Stream>();
      sg::Host* host = simulation_.platform().hosts[static_cast<std::size_t>(rank())];
      stream->actor = sg::Actor::create("lane", host, [this, lane, s = stream.get()] {
        // SimGrid begins an actor that was killed before it began, and never wakes it again.
        if (sg::this_actor::get_host()->is_on()) serve(*s, lane);
      });
      stream->actor->daemonize();
    }
    stream->queue.push_back(task);
    if (std::exchange(stream->idle, false)) stream->work->release();
  });
  BlockedOp& of_starter = simulation_.watch().op(rank(), layout().starter_of(lane));
  return Pending(std::make_unique<LanePending>(task, *stream, simulation_, of_starter, lane));
}

void Runtime::run_in_place(int lane, const std::function<void()>& task) {
  simulation_.work(rank(), lane).step = simulation_.work(rank(), 0).step;
  ++simulation_.work(rank(), lane).body;
  task();
}

void Runtime::step_ends() { ++simulation_.work(rank(), 0).step; }

void Runtime::serve(Stream& stream, int lane) {
  const Standstill::Actor actor(simulation_.watch().standstill());
  for (;;) {
    blocking([] {});  // a killed lane begins no further task
    if (stream.queue.empty()) {
      stream.idle = true;
      const Standstill::Rest rest(simulation_.watch().standstill());
      blocking([&] { stream.work->acquire(); });
    }
    const std::shared_ptr<Task> task = std::move(stream.queue.front());
    stream.queue.pop_front();
    try {
      LaneWork& work = simulation_.work(rank(), lane);
      work = {task->step, work.body + 1};
      if (!stream.failed) task->body();
    } catch (const simgrid::ForcefulKillException&) {
      if (!simulation_.failures().failing()) simulation_.failures().mark_dead(rank());
      throw;
    } catch (...) {
      stream.failed = std::current_exception();
      simulation_.failures().remember(stream.failed);
      // Its network lane may be at work on what unwinding has freed.
      if (layout().hierarchy_chunks > 1) simulation_.failures().fail(stream.failed);
    }
    task->error = stream.failed;
    task->body = nullptr;
    task->done = true;
    if (std::exchange(stream.waited_for, false)) blocking([&] { stream.ended->release(); });
  }
}

std::int64_t Runtime::agree(std::int64_t value, ReduceOp op) {
  return simulation_.all_ranks().agree(rank(), value, op);
}

void Runtime::barrier() { simulation_.all_ranks().meet(rank()); }

bool Runtime::barrier_with_all_there() { return simulation_.all_ranks().meet_those_there(rank()); }

void Runtime::resume_at(double seconds) {
  while (now() < seconds) blocking([&] { sg::this_actor::sleep_until(seconds); });
}

void Runtime::collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) {
  simulation_.all_ranks().collect(rank(), key, std::move(part), complete);
}

}  // namespace trigram::sim
