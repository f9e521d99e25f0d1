// What an algorithm sees of one rank (Worker), and what a backend implements for it (RankRuntime).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/lane/lane.hpp"
#include "core/lane/pending.hpp"
#include "core/values/key.hpp"
#include "core/world/rank_map.hpp"

namespace trigram {

class Requests;

/// What a backend implements for one rank: lanes, a clock, and the few services that are not communication.
class RankRuntime {
 public:
  /// `rank` is this rank's in the whole job, whatever the mesh is.
  RankRuntime(int rank, std::shared_ptr<const RankMap> map, const LaneLayout& layout)
      : rank_(rank), map_(std::move(map)), layout_(layout) {}
  virtual ~RankRuntime() = default;
  /// This rank in the whole job.
  int rank() const { return rank_; }
  /// The node and the coordinates of every rank of the job.
  const RankMap& map() const { return *map_; }
  const LaneLayout& layout() const { return layout_; }
  int lanes() const { return layout_.lanes(); }
  virtual Lane& lane(int index) = 0;
  /// Seconds since training could begin, on the backend's clock (simulated or monotonic).
  virtual double now() const = 0;
  /// Seconds for which this rank's GPU had kernels to run, on whatever lanes, since the last call, or the start; 0
  /// where the backend does not know.
  virtual double take_busy_seconds() { return 0; }
  /// Enqueues `task` on a lane, after everything issued before; tasks of one lane run one after another. After a task
  /// that failed a lane runs nothing more, since its messages could match others than its peers mean: later tasks fail
  /// with the same error.
  virtual Pending launch(int lane, std::function<void()> task) = 0;
  /// Runs `task` on a lane in place of the main lane, which stands still meanwhile (overlap off). A backend with
  /// streams overrides it, since a plain call would not order the task with the work of the main lane's stream.
  virtual void run_in_place(int /*lane*/, const std::function<void()>& task) { task(); }
  /// Reduces one host integer over all ranks; in `setup` and `finish` only.
  virtual std::int64_t agree(std::int64_t value, ReduceOp op) = 0;
  /// A barrier of all ranks without a timeout, for checkpoints.
  virtual void barrier() { agree(0, ReduceOp::sum); }
  /// The same between two steps that may be done without ranks that are gone: false where one is, and the backend can
  /// go on without it, as Communicator::with_all_there says.
  virtual bool barrier_with_all_there() {
    barrier();
    return true;
  }
  /// The largest `seconds` of all ranks, on every rank, rounded down to nanoseconds. Collective.
  double max_seconds(double seconds);
  /// Resumes from a checkpoint that was taken at `seconds`. A simulated clock shows that time when this returns.
  virtual void resume_at(double /*seconds*/) {}
  /// RPC (core/lane/service.hpp). Throws Error where Backend::refuses_asking gives a reason.
  virtual Requests& requests();
  /// Called around each hook. A loop may enqueue work of its own: what it enqueued before `take_turn` runs before what
  /// is enqueued until `give_turn`, and that runs before what the loop enqueues next. Hooks may come on any thread.
  /// Backends with streams override both.
  virtual void take_turn() {}
  virtual void give_turn() {}
  /// The step is enqueued. A backend with streams waits here until at most a fixed number of steps is still running,
  /// the same on every rank, so that the host does not run far ahead of what Pending::done tells it.
  virtual void step_ends() {}
  /// The rank is about to leave with an error: returns when no lane touches its memory any more, and never throws.
  virtual void stop_lanes();
  /// What this rank has to tell should it be lost (World::losses): asked for in that moment, in place of what it
  /// returns.
  virtual void leave_behind(std::function<std::vector<std::byte>()> /*last*/) {}
  using Parts = std::vector<std::vector<std::byte>>;
  /// A gather of host bytes outside of training, as for evaluations: hands in this rank's part of collection `key`.
  /// When every rank's part is there, `complete` is called once, with the parts in rank order, on one rank. Costs no
  /// simulated time and blocks no simulated rank; measured clocks are stopped meanwhile, but not what other lanes do.
  /// A rank that is lost has an empty part, and others may wait for it until they next meet or collect.
  virtual void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) = 0;
  /// Whether `collect` takes no time on the backend's clock, so that it may be called while lanes run: true in the
  /// simulator.
  virtual bool collect_is_free() const { return false; }

 private:
  int rank_;
  std::shared_ptr<const RankMap> map_;
  LaneLayout layout_;
};

/// System options of a run, the same for every algorithm: overlap and hierarchy (Bagua's relaxations O and H), whether
/// buckets are stepped within backward, the type of gradients, and the random seed.
struct Relaxation {
  bool overlap = true;
  bool optimizer_in_backward = true;  ///< where the algorithm has local updates, and overlap is on
  Hierarchy hierarchy = Hierarchy::none;
  std::uint64_t seed = 0;
  DType gradients = DType::f32;  ///< what gradients are rounded to, and full-precision means of them travel as
};

/// Numbers by column name.
using Records = std::map<std::string, double, std::less<>>;

/// What an algorithm sees of one rank: its data-parallel group, which is the whole job where there is no mesh. A task
/// on another lane gets a Worker of its own, whose step and constants are those of its `start`.
class Worker {
 public:
  /// What runs on a lane.
  using Task = std::function<void(Worker&)>;

  Worker(RankRuntime& runtime, int lane, const Relaxation& relaxation);

  Communicator& comm;     ///< the data-parallel group
  Communicator& node;     ///< its ranks on this node, by local rank
  Communicator& leaders;  ///< its ranks with this local rank, one per node: the nodes' leaders where that is 0
  Device& device;         ///< of this lane
  Timeline& timeline;     ///< of this lane
  const Relaxation relaxation;
  const int lane;  ///< 0: the main lane, which runs the hooks

  std::int64_t step = 0;     ///< counts from 0
  std::int64_t steps = 0;    ///< of the whole run
  double learning_rate = 0;  ///< of this step

  /// This rank in its data-parallel group. Its rank in the whole job is `runtime().rank()`.
  int rank() const { return comm.rank(); }
  /// Ranks of the data-parallel group, servers included. Without a mesh these are all ranks of the job.
  int world_size() const { return comm.size(); }
  [[deprecated("call world_size()")]] int world() const { return world_size(); }
  const Mesh& mesh() const { return runtime_.map().mesh(); }
  /// This lane's communicator with the ranks that differ from this one on `axis` alone, in its order: `rank()` there is
  /// the coordinate. Along data it is `comm`. Throws Error for an axis that the mesh does not have.
  Communicator& group(std::string_view axis);
  /// Seconds of training: the backend's clock, and before it what an earlier process has trained.
  double now() const { return earlier_ + runtime_.now(); }

  /// The lane of bucket `index`, and the one for background methods.
  int bucket_lane(int index) const { return runtime_.layout().of_bucket(index); }
  int background_lane() const { return runtime_.layout().background(); }

  /// Starts `task` on a lane, concurrently with this one: the only way to be concurrent. The task uses only the Worker
  /// that it is given and buffers that nothing else touches before `wait()`; every rank starts the same sequence of
  /// tasks on each lane. With overlap off the task runs in place, on the same lane's communicators. Throws Error when
  /// called from a task.
  Pending start(int lane, const Task& task);

  /// Starts `task` on the network lane of this lane, for a hierarchy in chunks (LaneLayout). Called from a task or on
  /// the main lane. The task and this lane share no communicator, and no buffer before `wait()`; every rank of each
  /// communicator that it uses starts the same. It runs concurrently with this lane also where overlap is off, since
  /// both exchange one bucket.
  Pending start_on_network_lane(const Task& task);

  /// The random stream of this rank and step for one bucket and phase.
  Key key(int bucket, Phase phase) const { return {relaxation.seed, step, rank(), bucket, 0, phase}; }

  /// Reduces one host integer over all ranks of the job, those of other data-parallel groups too. In `setup` and
  /// `finish` only, since between them ranks may be at different steps. Throws Error in a step and in a task.
  std::int64_t agree(std::int64_t value, ReduceOp op);
  RankRuntime& runtime() { return runtime_; }
  const RankRuntime& runtime() const { return runtime_; }

  /// A number of this rank and step for a column of its own in steps.csv, as "staleness"; the last one of a step
  /// counts. On the main lane. Throws Error in a task, and for a name that is not of lower-case letters, digits and _.
  void record(std::string_view column, double value);
  /// Resumes from a checkpoint that was taken at `seconds`. Before the first step, on the main lane.
  void resume_at(double seconds);

  /// What was recorded since the last call.
  Records take_records() { return std::exchange(records_, {}); }

  /// While it lives, this rank is in a step.
  class InStep {
   public:
    explicit InStep(Worker& worker) : worker_(worker) { worker_.in_step_ = true; }
    ~InStep() { worker_.in_step_ = false; }
    InStep(const InStep&) = delete;
    InStep& operator=(const InStep&) = delete;

   private:
    Worker& worker_;
  };

  /// For error messages: records on the lane's timeline which rank and step it works on. On the lane's own thread only.
  void say_where(std::int64_t at_step) const;
  static constexpr std::int64_t before_the_first_step = -1;

 private:
  /// Binds `task` to a Worker of that lane, whose step and constants are those of now.
  std::function<void()> frozen_on(int lane_index, const Task& task) const;

  RankRuntime& runtime_;
  double earlier_ = 0;
  bool in_step_ = false;
  Records records_;
};

}  // namespace trigram
