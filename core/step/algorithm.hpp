// An algorithm of distributed training: what happens at the hooks of a step, and what it costs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/lane/hierarchy.hpp"
#include "core/lane/worker.hpp"
#include "core/registry/registry.hpp"
#include "core/step/bucket.hpp"
#include "core/step/state.hpp"
#include "core/values/cost.hpp"

namespace trigram {

/// Bagua's three axes.
struct Trigram {
  enum class Synchrony : std::uint8_t { synchronous, asynchronous } synchrony;
  enum class Precision : std::uint8_t { full, low } precision;
  enum class Centrality : std::uint8_t { centralized, decentralized } centrality;

  /// One of ☰ ☱ ☲ ☳ ☴ ☵ ☶ ☷: a whole line for synchronous, full precision, centralized, from the bottom up.
  std::string symbol() const;
  /// "synchronous, low precision, centralized".
  std::string words() const;
};

/// The run options that an algorithm supports or refuses.
enum class Option : std::uint8_t { overlap, leader, all_nics };
inline constexpr Option all_options[] = {Option::overlap, Option::leader, Option::all_nics};
const char* name_of(Option option);

/// Empty when supported, else the reason why not, as a sentence.
using Refusal = std::string;

/// What a cost is asked for: one rank's traffic in one step.
struct CostQuery {
  Placement place;
  Hierarchy hierarchy = Hierarchy::none;
  std::string all_reduce = "ring";
  std::int64_t step = 0;
  std::span<const BucketLayout> buckets;   ///< in bucket order
  std::span<const int> node_of_rank = {};  ///< of a data-parallel group's ranks; empty: a node each
  DType gradients = DType::f32;            ///< as Relaxation has it
  int hierarchy_chunks = 1;                ///< as World has it
};

/// What a primitive connects under the query's hierarchy: ranks on their nodes, or nodes.
Vertices vertices(const CostQuery& query);

/// What holds whatever is trained; `trigram check` and the conformance suite try each.
struct Invariants {
  enum class Replicas : std::uint8_t {
    free,                   ///< no two ranks need to have the same weights
    equal_at_the_end,       ///< all weights are equal, bit for bit, after `finish`
    equal_after_exchanges,  ///< and after every step whose cost is not zero
  } replicas = Replicas::free;
  /// Per step of plain SGD, how far the mean of weights over ranks may be from following the mean gradient, as a share
  /// of the learning rate times the longest gradient: 0 up to rounding; none where the mean follows something else.
  std::optional<double> mean_error = std::nullopt;
  /// Of a decentralized method: the distance between ranks shrinks at least by this factor in each step that exchanges,
  /// where gradients are zero. None: it is smaller at the end than at its largest.
  std::optional<double> contraction = std::nullopt;
  /// Where gradients are zero from some step on, the mean of weights comes to have moved by this times the learning
  /// rate against the sum of mean gradients, as with error feedback: what it is off by meanwhile is made up for,
  /// however much. None: what is lost stays lost, or the mean follows something else.
  std::optional<double> settles = std::nullopt;
  /// Why the mean of weights need not move against gradients that are the same in each step and on each rank, as a
  /// sentence; empty: it does.
  Refusal may_climb = {};
  /// Why items of `list_state` need not be the same on all ranks that train before the first step, as a sentence;
  /// empty: they are, as far as they have the same length.
  Refusal may_start_apart = {};
};

/// The hooks of a step, all empty by default. Algorithms hold state in members only, name no backend, look into no
/// Buffer and use no thread.
class Algorithm {
 public:
  static constexpr const char* registry_kind = "algorithm";
  virtual ~Algorithm() = default;

  virtual Trigram trigram() const = 0;
  virtual Refusal refuses(Option) const { return {}; }
  /// False where results depend on timing (a polled Pending): same-bits tests then hold in the simulator only.
  virtual bool deterministic() const { return true; }
  /// True where a bucket may be updated, and after_update called, as soon as its own gradient is complete.
  virtual bool local_updates() const { return false; }
  /// True where ranks ask each other by RPC (core/lane/service.hpp).
  virtual bool asks() const { return false; }
  /// How many ranks train nothing, of so many: the last ones, which only serve. They have the initial weights and no
  /// data; of the hooks they see `setup` and `finish`.
  virtual int servers(int /*ranks*/) const { return 0; }
  /// False where the run's optimizer steps nothing, since the algorithm changes all weights by itself, in `update`: it
  /// then holds what optimizers it needs (1-bit Adam), and a run that names one is refused.
  virtual bool uses_optimizer() const { return true; }
  /// What of a bucket the run's optimizer steps on this rank, and keeps state for: all of it, `bucket.part(…)`, another
  /// direction (`bucket.along(…)`), or nothing. Asked for once a bucket, after `setup`.
  virtual std::optional<Bucket> stepped(const Worker&, const Bucket& bucket) const { return bucket; }
  /// Rounds and bytes sent by one rank in one step; equal to what metering counts. Of an asynchronous method, what one
  /// exchange costs, in each step that may begin one.
  virtual Cost cost(const CostQuery& query) const = 0;
  /// Refuses what no rank should start with: a topology that has no such size, a codec that would diverge. Called once,
  /// with the place of rank 0, before any rank starts. Throws UsageError.
  virtual void check(const CostQuery&) const {}
  /// By default what the trigram promises: synchronous centralized methods are equal after exchanges, asynchronous
  /// centralized ones at the end; in full precision, where the run's optimizer steps, the mean follows the mean
  /// gradient. `query` gives the world, for what depends on its size.
  virtual Invariants invariants(const CostQuery& query) const;
  /// The parameters by which the method is tried, "" for its defaults: each parameter has another value than its
  /// default in one of them, and short periods keep trials short.
  virtual std::vector<std::string> trials() const { return {""}; }

  virtual void setup(Worker&, std::span<Bucket>) {}  ///< weights are equal on all ranks by then
  virtual void before_forward(Worker&) {}  ///< exchanges of weights that hide behind forward and backward start here
  virtual void gradients_ready(Worker&, Bucket&) {}  ///< as soon as a bucket's gradient is complete
  virtual void before_update(Worker&) {}             ///< waits for what the update needs
  /// What the algorithm steps by itself, after the optimizer has stepped its part. What it computes on its Device costs
  /// no time where the workload's time of a step includes the update.
  virtual void update(Worker&, Bucket&) {}
  virtual void after_update(Worker&, Bucket&) {}  ///< decentralized and model-averaging methods act here
  virtual void after_step(Worker&) {}             ///< weights are whole when it returns
  virtual void finish(Worker&) {}                 ///< ends what runs in the background; weights are final

  /// At a checkpoint, between two steps, the same on all ranks: ends what runs in the background, so that nothing is
  /// under way that `list_state` cannot name. The next step follows. No rank goes on before all have returned.
  virtual void quiesce(Worker&) {}
  /// Between two steps, after `quiesce`, on a bucket whose own weights are put back afterwards: turns its weights into
  /// those of the model that the method trains, the same on all ranks. That is the mean over ranks unless the method
  /// keeps such a model itself, as DiLoCo its outer weights. Collective.
  virtual void global_weights(Worker& worker, Bucket& bucket);
  /// Names what members keep from one step to the next and `setup` does not bring back. Weights are the trainer's.
  /// (`trigram check` trains to a checkpoint and on from it, and finds other weights where something is missing.)
  virtual void list_state(State&) {}
};

using Algorithms = Registry<Algorithm>;

}  // namespace trigram
