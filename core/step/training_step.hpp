// What one rank does in a training step besides computing gradients, for any loop that computes them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/step/algorithm.hpp"
#include "core/step/optimizer.hpp"
#include "core/step/step_order.hpp"

namespace trigram {

/// A loop calls the hooks of this object in each step: `begin`; one per gradient once it is complete; `before_update`;
/// `update`, or `updated` where the loop's own optimizer has stepped; `end`. A hook that is called out of order is an
/// Error that says which one must be called next, and changes nothing. Hooks may be called on several threads, one
/// after another, as when gradients become ready on a thread of automatic differentiation: there are no locks.
class TrainingStep {
 public:
  /// What steps are made of.
  struct Parts {
    std::unique_ptr<Algorithm> algorithm;
    std::unique_ptr<Optimizer> optimizer;  ///< none where the algorithm steps all by itself, or the loop does
    bool update_is_timed = false;          ///< the workload's measured time of a step has the update in it
  };
  /// Of specs; `optimizer` may be empty. There is none where the algorithm updates by itself.
  static Parts make_parts(const std::string& algorithm, const std::string& optimizer);

  /// On the main lane. The Worker and the buckets, whose gradients the loop writes, outlive it. Throws UsageError for
  /// an optimizer that would do nothing.
  TrainingStep(Worker& worker, std::span<Bucket> buckets, Parts parts);
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  /// Before the first step, when weights are equal on all ranks; `steps` is how many there will be. Collective. Throws
  /// UsageError where the loop's optimizer cannot do what the algorithm wants.
  void setup(std::int64_t steps);
  /// Forward may read the weights when it returns. Steps count upwards, from any number. Not on a rank that
  /// only serves.
  void begin(std::int64_t step, double learning_rate);
  /// A tensor's gradient is in its bucket, by its index in the list of parameters; in any order. A bucket is exchanged
  /// once it is complete and all buckets before it are.
  void tensor_ready(int parameter);
  /// All of the next bucket's gradients are there.
  void bucket_ready(int index);
  /// Backward has ended: all gradients of the step are complete.
  void rest_ready();
  /// When it returns, gradients are those that the update applies.
  void before_update();
  /// Steps the weights, by the optimizer and the algorithm.
  void update();
  /// Call it in place of `update` once the loop's own optimizer has stepped all weights along the gradients.
  void updated();
  /// Weights are whole when it returns.
  void end();
  /// After the last step; weights are final. Collective.
  void finish();
  /// Between two steps, where a checkpoint is taken: nothing is under way on any rank when it returns. Collective.
  void quiesce();
  /// Between two steps, after `quiesce`: weights become those of the model that the method trains, for as long as the
  /// loop looks at it; it puts its own back before the next step. Collective.
  void global_weights();
  /// What the algorithm and the optimizer keep from one step to the next. Weights are the loop's. To be read back after
  /// `setup`, followed by a barrier (RankRuntime::barrier).
  void list_state(State& state);
  /// The loop leaves with an error, this object's or its own: returns when no lane uses algorithm or buckets any more.
  /// Call it before they are destroyed; nothing may be called afterwards.
  void abandon() noexcept;

  /// Whether the loop steps the weights, between `before_update` and `updated`; else `update` does.
  bool loop_updates() const { return algorithm_->uses_optimizer() && optimizer_ == nullptr; }
  /// Whether this rank takes part in `setup` and `finish` only.
  bool only_serves() const;
  Algorithm& algorithm() { return *algorithm_; }
  /// Null where there is none.
  Optimizer* optimizer() { return optimizer_.get(); }

 private:
  void leave();
  void set_up_optimizer();
  void require_whole(const Bucket& bucket) const;
  void start_complete_buckets();
  bool updates_early() const;
  void update(Bucket& bucket);
  void change_weights(Bucket& bucket);

  Worker& worker_;
  std::span<Bucket> buckets_;
  std::unique_ptr<Algorithm> algorithm_;
  std::unique_ptr<Optimizer> optimizer_;
  bool update_is_timed_;
  std::vector<std::optional<Bucket>> stepped_;  ///< what the optimizer steps of each bucket
  StepOrder order_;
  std::optional<Worker::InStep> in_step_;
};

}  // namespace trigram
