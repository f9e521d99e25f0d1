// One rank whose loop is not ours, and whose model lies in memory of its own: what Python drives.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/registry/params.hpp"
#include "core/step/state.hpp"
#include "core/step/training_step.hpp"
#include "core/training/backend.hpp"
#include "core/training/rank_report.hpp"
#include "core/training/training_options.hpp"
#include "python/session/gradient_state.hpp"

namespace trigram {

/// From `Session` to `finish`, a rank of the job that this process is a part of. Of the hooks of a step
/// (core/step/training_step.hpp), in their order, from any thread in turn. Whatever fails ends the session: ranks that
/// wait for this one learn of it, and no other hook comes.
class Session {
 public:
  /// Reads its flags, which are those of `trigram run` that a loop of one's own has, and joins. `loop_updates`: the
  /// loop steps the weights by optimizers of its own. `device`: the CUDA device of the model's memory; none: the
  /// host's. Collective. Throws UsageError for what cannot run.
  Session(Params flags, std::vector<Parameter> parameters, bool loop_updates, std::optional<int> device = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int rank() const { return worker_->rank(); }
  int ranks() const { return worker_->world_size(); }
  /// How the parameters are fused: the memory of a bucket's tensors has to lie in this order.
  const BucketPlan& plan() const { return plan_; }
  /// Whether weights change within hooks alone.
  bool synchronous() const { return synchronous_; }
  /// Whether hooks look at gradients, so that a loop which has its own elsewhere has to copy them here.
  bool reads_gradients() const { return reads_gradients_; }
  /// Whether hooks look at weights. Where they do not, only a Handover reads the memory that was adopted for them.
  bool reads_weights() const { return !gradients_alone_; }

  /// On a device: from now on hooks follow what the caller has ordered on that stream, a cudaStream_t, and what it
  /// orders there next follows them. They return once all is ordered: only `state`, `go_on_from` and `finish` wait for
  /// the device, and `end` while more than two steps are under way.
  void follow(void* stream);
  /// On a device, by lane, the streams on which the code of a ForeignAlgorithm enqueues what it computes there; empty
  /// where lanes are threads.
  std::vector<void*> streams() const;
  /// Before `adopt`: what a Handover gives this rank, where the ranks of a job before were others.
  void take_over(std::vector<std::byte> handed) { handed_ = std::move(handed); }
  /// The model's memory, by parameter, which outlives the session. Weights are the same on all ranks, by `share`, or
  /// become those that were taken over; where hooks do not look at them, they may be the same memory as gradients.
  /// Collective, once.
  void adopt(std::vector<ParameterView> memory);
  /// The bytes of rank `root` on every rank, before `adopt`, outside of steps or between `begin` and the first
  /// gradient. Collective.
  void share(const Buffer& bytes, int root);
  /// The sum over ranks on every rank, of f32, on the main lane at any moment that all ranks have alike. Collective.
  void sum(const Buffer& numbers);

  void begin(double learning_rate);
  void tensor_ready(int parameter);
  /// Backward has ended: what was not told of is ready too, and gradients are those to step along.
  void gradients_end();
  /// The loop's optimizer has stepped, or would have, where the algorithm steps. Weights are whole.
  void end();
  /// After the last step. Collective.
  void finish();
  /// Throws UsageError for an algorithm that needs to see more than gradients; `else_text` ends the message: for what
  /// that is too little, and what would be right.
  static void require_gradients_only(const std::string& algorithm, const std::string& else_text);
  /// Between two steps: remembers what the algorithm keeps beside the gradients, so that a step can be left out as a
  /// whole: `go_back`, after its end, has it as it was. For algorithms that see gradients alone.
  void keep();
  void go_back();
  /// Between two steps: gradients will be `factor` times what they were, as those of a scaled loss.
  void rescale(double factor);
  /// Between two steps: whether what the algorithm keeps has neither infinity nor NaN. Of one that sees more than
  /// gradients, in the midst of whose exchanges this may be, nobody looks.
  bool state_is_finite();
  /// Between two steps: what an asynchronous algorithm has under way ends, by which weights may change. Collective.
  void come_to_rest();
  /// After `come_to_rest`: weights become those of the model that the method trains, the same on all ranks, and their
  /// own are gone; the loop has kept them, puts them back, and then all call `meet` before one goes on. Collective.
  void global_weights();
  void meet();
  /// Between two steps: what this rank keeps beside weights and the loop's optimizers. Collective.
  std::vector<std::byte> state();
  /// Returns when all that was ordered is done. Throws where it was cut off, as EnteredRank::require_whole.
  void settle();
  /// Throws likewise, and waits for nothing: what the loop has seen by now was not cut off.
  void require_whole();
  /// Ends all waits of this session from any thread, where the backend can: as EnteredRank::way_out.
  void give_up(const std::string& reason) const;
  /// Training goes on from there, before the first step. Collective. Throws UsageError for a state of something else.
  void go_on_from(std::span<const std::byte> state);
  /// Between two steps: this rank's state for a Handover, weights too, in `memory` of one before. Collective only where
  /// an asynchronous algorithm has to come to rest.
  std::vector<std::byte> border(std::vector<std::byte> memory);
  /// The loop leaves with an error of its own.
  void fail(const std::string& reason) noexcept;
  /// Well or not: no hook can follow.
  bool ended() const { return entered_ == nullptr; }

  /// A row a step, without a loss. `time_s`, `compute_s` and `exposed_s` are the host's: where hooks only order what
  /// a device does later, exposed is the time in which they did, and compute the rest of the step. Encode, wire and
  /// decode are the device's own, in the row of the step in which they were seen to have ended.
  const std::vector<StepRow>& rows() const { return rows_; }
  /// What the algorithm recorded, an entry for each row.
  const std::vector<Records>& recorded() const { return recorded_; }
  /// What the lanes of a rank did, if the flag `trace` was on. After `finish`.
  const std::vector<LaneSpan>& spans_of(int rank) const { return spans_.at(static_cast<std::size_t>(rank)); }
  /// As LaneLayout says it.
  std::string lane_name(int lane) const { return world_.layout().name_of(lane); }

 private:
  /// What this rank's lanes had done by some moment.
  struct Sums {
    double time = 0, encode = 0, wire = 0, decode = 0;
    std::int64_t bytes = 0, to_other_nodes = 0;
  };
  template <class Body>
  void moment(const Body& body);
  /// One whose body is none of TrainingStep's, which take turns themselves.
  template <class Body>
  void hook_in_turn(const Body& body);
  void end_with(std::exception_ptr error) noexcept;
  /// Throws Error before `adopt`.
  TrainingStep& step();
  void list_state(State& state);
  /// What other members go on from: weights too.
  void list_border(State& state);
  void take_up();
  Sums sums();
  std::vector<LaneSpan> own_spans();
  void keep_spans(const Outcome& outcome);
  void add_row();

  TrainingOptions options_;
  World world_;
  std::vector<Parameter> parameters_;
  BucketPlan plan_;
  TrainingStep::Parts parts_;
  bool loop_updates_;
  bool gradients_alone_ = false;  ///< are all that the algorithm sees
  bool synchronous_ = false;      ///< so that all ranks take as many steps, and nothing is under way between them
  bool reads_gradients_ = true;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<EnteredRank> entered_;
  std::function<void(const std::string&)> way_out_;
  std::optional<Worker> worker_;
  std::optional<BucketStore> store_;
  std::unique_ptr<TrainingStep> step_;
  std::vector<StepRow> rows_;
  std::vector<Records> recorded_;
  std::optional<KeptState> kept_;             ///< of the algorithm
  std::vector<std::byte> handed_;             ///< until `adopt`; empty: training begins
  std::int64_t steps_ = 0;                    ///< that are done
  Sums before_;                               ///< this step
  double exposed_ = 0;                        ///< seconds of this step that the loop spent in hooks
  std::optional<double> outside_since_;       ///< in a step, when its last hook ended
  std::vector<std::vector<LaneSpan>> spans_;  ///< by rank
};

}  // namespace trigram
