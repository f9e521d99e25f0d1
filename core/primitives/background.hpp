// Averaging of models by the background lane, while ranks go on training.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/primitives/agreement.hpp"
#include "core/primitives/centralized.hpp"

namespace trigram {

/// Averages of snapshots, one after the other on the background lane. What a rank learned meanwhile is kept:
/// x ← (x − own snapshot) + mean of snapshots, so the mean over ranks never moves. With each averaging ranks agree
/// whether all want to stop, so that ranks which have finished go on taking part until all have.
///   in full precision   the mean is C_FP_S of snapshots
///   in low precision    all ranks know the mean m of the averaging before, the initial weights at first, and
///                       m ← m + C_LP_S(snapshot − m): what travels is what ranks have learned since. The mean over
///                       ranks moves by what is lost, which error feedback makes up for in the next averaging.
/// An averaging in which a rank is gone, where the backend can go on without it, is given up: weights stay as they are,
/// and no other is started. Some may have merged an averaging that others give up.
class BackgroundAverage {
 public:
  /// How chunks of differences are encoded.
  struct LowPrecision {
    std::string codec;
    bool error_feedback = true;
  };

  void setup(Worker& worker, std::span<Bucket> buckets, const std::optional<LowPrecision>& low = std::nullopt);
  /// Takes a snapshot of all weights and starts averaging it. Every rank starts the same number of averagings, unless
  /// they are given up.
  void start(Worker& worker, bool stop);
  bool running() const { return running_; }
  bool given_up() const { return given_up_; }
  /// Whether `merge` would not wait; local, and up to the clock.
  bool done() const { return averaging_.done(); }
  /// Waits for the averaging and merges it.
  void merge(Worker& worker);
  /// Whether every rank asked to stop in the averaging merged last, or no other can follow. Looks at the device from
  /// the host.
  bool everyone_stopped(Worker& worker) { return given_up_ || stop_.outcome(worker) == 1; }
  /// Between averagings, after as many steps on all ranks: later ones have keys that no earlier one had, the same on
  /// all ranks, whoever has given up.
  void count_on_from(std::int64_t steps);
  /// Call it only between averagings.
  void list_state(State& state);

 private:
  void average(Worker& lane);

  std::span<Bucket> buckets_;
  Agreement stop_{ReduceOp::min};
  std::vector<OwnedBuffer> snapshots_;
  std::vector<OwnedBuffer> means_;                    ///< in low precision, of differences
  std::vector<OwnedBuffer> known_;                    ///< in low precision, m
  std::vector<CentralizedLowPrecision> differences_;  ///< in low precision
  std::int64_t averagings_ = 0;                       ///< the number of the next one
  Pending averaging_;
  bool running_ = false;
  bool came_about_ = true;  ///< the averaging that was started last, once it has ended
  bool given_up_ = false;
};

/// Rounds and bytes of one averaging in full precision.
Cost background_average_cost(const CostQuery& query);
/// The same in low precision.
Cost background_average_cost(const CostQuery& query, const Codec& codec);

}  // namespace trigram
