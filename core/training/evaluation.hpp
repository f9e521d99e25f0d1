// Loss and accuracy of the weights of all ranks at stated times, outside of training's own communication.
#pragma once

#include <functional>

#include "core/step/workload.hpp"
#include "core/training/rank_report.hpp"
#include "core/training/training_options.hpp"

namespace trigram {

/// This rank's weights on the host, one vector per parameter.
Workload::HostWeights download_weights(Device& device, std::span<const ParameterView> parameters);

/// FNV-1a over words of these weights: the same for the same bits in the same order.
std::uint64_t digest_of(const Workload::HostWeights& weights);

/// The evaluations of one training, seen by one rank: before the first step, every so many steps or simulated seconds,
/// and after the last. All ranks hand in weights for the same evaluations; on the rank that completes one, `done`
/// receives its row. What servers hold is no model of theirs and is left out: means are over ranks that train. Accuracy
/// is computed once for each distinct set of weights. Does nothing for a phantom workload.
/// Where scoring takes real time, training only copies weights, and they are scored after its end: or else ranks would
/// wait for each other, and background lanes would go on while training stands still.
class Evaluations {
 public:
  using Done = std::function<void(const EvalRow&)>;
  /// How far one rank was.
  struct Reached {
    std::int64_t steps = 0;
    std::int64_t bytes_sent = 0;           ///< in these steps
    std::int64_t bytes_between_nodes = 0;  ///< those of them that went to another node
    double busy_s = 0;                     ///< of its GPU in these steps
    Records recorded = {};                 ///< what its algorithm recorded last, by column
  };
  /// What is given outlives this.
  Evaluations(Worker& worker, Workload& workload, std::span<const ParameterView> parameters,
              const TrainingOptions& options, Done done);

  void begin();
  /// By seconds, this rank's part at each time that has passed is its weights after the last step that had ended by
  /// then; once it has stopped, those after its last step.
  void after_step(const Reached& reached);
  void end(const Reached& reached);
  /// At a checkpoint, when all ranks are at the same moment: hands in and scores what is due by then.
  void quiesce(const Reached& reached);
  /// In place of `begin`, after `list_state` was read back: those of the past are not made again.
  void go_on(const Reached& reached) { keep_latest(reached); }
  void list_state(State& state) { state.value("begin", begin_, Fate::own).value("next", next_, Fate::own); }

 private:
  /// What this rank has handed in and nobody has scored.
  struct Kept {
    std::int64_t key;
    double time;
    std::vector<std::byte> part;
  };

  void hand_in(std::int64_t key, double time, const Reached& reached, const Workload::HostWeights& weights);
  void hand_in_until_now();
  void hand_in_now(std::int64_t key, const Reached& reached);
  void score(std::int64_t key, double time, std::vector<std::byte> part);
  void score_kept();
  void keep_latest(const Reached& reached);
  /// Throws UsageError where the rows of a moment would fill memory and take for ever.
  void require_few() const;
  bool by_seconds() const { return options_.evaluate_seconds > 0; }
  double next_time() const { return begin_ + static_cast<double>(next_) * options_.evaluate_seconds; }

  Worker& worker_;
  Workload& workload_;
  std::span<const ParameterView> parameters_;
  const TrainingOptions& options_;
  Done done_;
  bool trains_;                 ///< else this rank hands in nothing, as often as the others hand in weights
  std::size_t part_bytes_ = 0;  ///< of a rank that trains
  double begin_ = 0;
  std::int64_t next_ = 1;         ///< the multiple of the seconds that comes next
  Workload::HostWeights latest_;  ///< weights at `latest_reached_`, by seconds only
  Reached latest_reached_;
  std::vector<Kept> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace trigram
