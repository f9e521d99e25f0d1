// One rank's world, as algorithms see it; and what a backend must bring for it.
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

/// What a backend brings for one rank: lanes, time, and the few services that are not communication.
class RankRuntime {
 public:
  /// `rank` of all those on the map, whatever the mesh is.
  RankRuntime(int rank, std::shared_ptr<const RankMap> map, const LaneLayout& layout)
      : rank_(rank), map_(std::move(map)), layout_(layout) {}
  virtual ~RankRuntime() = default;
  /// Of all ranks of the run.
  int rank() const { return rank_; }
  /// Where all of them stand.
  const RankMap& map() const { return *map_; }
  const LaneLayout& layout() const { return layout_; }
  int lanes() const { return layout_.lanes(); }
  virtual Lane& lane(int index) = 0;
  /// Seconds since training could begin, on the backend's clock (simulated or monotonic).
  virtual double now() const = 0;
  /// Seconds for which this rank's GPU had kernels to run, on whatever lanes, since the last call, or the start; 0
  /// where the backend does not know.
  virtual double take_busy_seconds() { return 0; }
  /// Runs `body` on a lane after everything issued before; bodies of one lane run in order. After one that failed a
  /// lane runs nothing more, since its messages could match others than its peers mean: later ones fail with the same
  /// error.
  virtual Pending launch(int lane, std::function<void()> body) = 0;
  /// Runs `body` on a lane between what was issued before and what comes after, beside nothing of this rank. A backend
  /// whose lanes are streams overrides it: there the call alone orders the body with no other lane.
  virtual void run_in_place(int /*lane*/, const std::function<void()>& body) { body(); }
  /// Reduces one host integer over all ranks; in `setup` and `finish` only.
  virtual std::int64_t agree(std::int64_t value, ReduceOp op) = 0;
  /// Returns when every rank has called it, however long that takes: at checkpoints.
  virtual void meet() { agree(0, ReduceOp::sum); }
  /// The latest of the seconds that ranks give, on every rank, to the nanosecond: when the last one ended. Collective.
  double latest(double seconds);
  /// Training goes on from where a checkpoint was taken, at `seconds`. A modelled clock shows them when this returns.
  virtual void go_on_at(double /*seconds*/) {}
  /// RPC (core/lane/service.hpp). Throws Error where Backend::refuses_asking gives a reason.
  virtual Requests& requests();
  /// A loop that works as this rank tells it a hook, on whatever thread: what the loop has ordered so far comes
  /// before what is ordered until `give_turn`, and that before what the loop orders next. A backend whose work runs
  /// later than it is ordered overrides both.
  virtual void take_turn() {}
  virtual void give_turn() {}
  /// All of a step has been ordered. A backend whose work runs later than it is ordered overrides it, and waits until
  /// no more than a few steps are under way: as many on every rank, so that none is far ahead of what it asks about.
  virtual void step_ends() {}
  /// The rank is about to leave with an error: returns when no lane touches its memory any more, and never throws.
  virtual void stop_lanes();
  using Parts = std::vector<std::vector<std::byte>>;
  /// Out of band: hands in this rank's part of collection `key`. When every rank's part is there, `complete` is
  /// called once, with the parts in rank order, on one rank. Costs no simulated time and blocks no simulated rank;
  /// measured clocks are stopped meanwhile, but not what other lanes do.
  virtual void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) = 0;
  /// Whether `collect` may be called while lanes work without changing what they do: where no real time passes in it.
  virtual bool collects_unnoticed() const { return false; }

 private:
  int rank_;
  std::shared_ptr<const RankMap> map_;
  LaneLayout layout_;
};

/// How this run wants every algorithm to be relaxed by the system: the options O and H, and the random seed.
struct Relaxation {
  bool overlap = true;
  Hierarchy hierarchy = Hierarchy::none;
  std::uint64_t seed = 0;
  DType gradients = DType::f32;  ///< what gradients are rounded to, and full-precision means of them travel as
};

/// Numbers by column name.
using Records = std::map<std::string, double, std::less<>>;

/// One rank's world, which is its data-parallel group. A lane's body gets a Worker of its own, whose step and constants
/// were frozen at `start`.
class Worker {
 public:
  using Body = std::function<void(Worker&)>;

  Worker(RankRuntime& runtime, int lane, const Relaxation& relaxation);

  Communicator& comm;
  Communicator& node;
  Communicator& leaders;
  Device& device;
  Timeline& timeline;
  const Relaxation relaxation;
  const int lane;

  std::int64_t step = 0;     ///< counts from 0
  std::int64_t steps = 0;    ///< of the whole run
  double learning_rate = 0;  ///< of this step

  /// Among the replicas of the data-parallel group; `runtime().rank()` is that of the whole run.
  int rank() const { return comm.rank(); }
  int world() const { return comm.size(); }
  const Mesh& mesh() const { return runtime_.map().mesh(); }
  /// This lane's communicator with the ranks that differ from this one on `axis` alone, in its order: `rank()` there is
  /// the coordinate. Along data it is `comm`. Throws Error for an axis that the mesh does not have.
  Communicator& group(std::string_view axis);
  /// Seconds of training: the backend's clock, and before it what an earlier process has trained.
  double now() const { return earlier_ + runtime_.now(); }

  /// The lane of bucket `index`, and the one for background methods.
  int bucket_lane(int index) const { return runtime_.layout().of_bucket(index); }
  int background_lane() const { return runtime_.layout().background(); }

  /// The only way to be concurrent. The body uses only the lane Worker that it is given and buffers that nobody else
  /// touches before `wait()`; every rank starts the same sequence on each lane. With overlap off it runs in place,
  /// on the same lane's communicators. Throws Error when called from a lane's body.
  Pending start(int lane, const Body& body);

  /// From a lane's body, or the main lane: runs `body` on the network lane of this one, where a hierarchy goes by
  /// chunks (LaneLayout). The body and this lane share no communicator, and no buffer before `wait()`; every rank of
  /// each communicator that it uses starts the same. It runs beside this lane with overlap off too: both exchange one
  /// bucket.
  Pending start_on_network_lane(const Body& body);

  /// The random stream of this rank and step for one bucket and phase.
  Key key(int bucket, Phase phase) const { return {relaxation.seed, step, rank(), bucket, 0, phase}; }

  /// Reduces one host integer over all ranks, those of other data-parallel groups too, in `setup` and `finish` only: in
  /// a step, others may be far from asking. Throws Error in a step and in a lane's body.
  std::int64_t agree(std::int64_t value, ReduceOp op);
  RankRuntime& runtime() { return runtime_; }
  const RankRuntime& runtime() const { return runtime_; }

  /// A number of this rank and step for a column of its own in steps.csv, as "staleness"; the last one of a step
  /// counts. On the main lane. Throws Error in a lane's body, and for a name that is not of lower-case letters, digits
  /// and _.
  void record(std::string_view column, double value);
  /// Training goes on from a checkpoint that was taken at `seconds`. Before the first step, on the main lane.
  void go_on_at(double seconds);

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

  /// Tells the lane's timeline, for messages, which rank works there and in which step. On the lane itself only.
  void say_where(std::int64_t at_step) const;
  static constexpr std::int64_t before_the_first_step = -1;

 private:
  /// The body with a Worker of that lane, whose step and constants are those of now.
  std::function<void()> frozen_on(int lane_index, const Body& body) const;

  RankRuntime& runtime_;
  double earlier_ = 0;
  bool in_step_ = false;
  Records records_;
};

}  // namespace trigram
