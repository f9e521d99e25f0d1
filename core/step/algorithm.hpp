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

/// Bagua's three axes (Gan et al., VLDB 2021, arXiv:2107.01499), by which methods are classified.
struct Trigram {
  enum class Synchrony : std::uint8_t { synchronous, asynchronous } synchrony;
  enum class Precision : std::uint8_t { full, low } precision;
  enum class Centrality : std::uint8_t { centralized, decentralized } centrality;

  /// One of ☰ ☱ ☲ ☳ ☴ ☵ ☶ ☷: an unbroken stroke for synchronous, full precision, centralized, from the bottom up.
  std::string symbol() const;
  /// "synchronous, low precision, centralized".
  std::string words() const;
};

/// System options of a run that an algorithm supports or refuses: overlap, and the two kinds of hierarchy.
enum class Option : std::uint8_t { overlap, leader, all_nics };
inline constexpr Option all_options[] = {Option::overlap, Option::leader, Option::all_nics};
const char* name_of(Option option);

/// Empty when supported, else the reason why not, as a sentence.
using Refusal = std::string;

/// The circumstances that `cost` declares one rank's traffic of one step for.
struct CostQuery {
  Placement place;
  Hierarchy hierarchy = Hierarchy::none;
  std::string all_reduce = "ring";
  std::int64_t step = 0;
  std::span<const BucketLayout> buckets;   ///< in bucket order
  std::span<const int> node_of_rank = {};  ///< of a data-parallel group's ranks; empty: each on a node of its own
  DType gradients = DType::f32;            ///< as Relaxation has it
  int hierarchy_chunks = 1;                ///< as World has it
};

/// Participants of an exchange under the query's hierarchy: ranks on their nodes, or nodes.
Vertices vertices(const CostQuery& query);

/// What an algorithm promises whatever is trained; `trigram check` and the conformance suite test each promise. Below,
/// x̄ is the mean of weights over ranks, x̄_0 before training, ḡ_t the mean of gradients in step t, γ the learning
/// rate.
struct Invariants {
  enum class Replicas : std::uint8_t {
    free,                   ///< no two ranks need to have the same weights
    equal_at_the_end,       ///< all weights are equal, bit for bit, after `finish`
    equal_after_exchanges,  ///< and after every step whose cost is not zero
  } replicas = Replicas::free;
  /// With plain SGD, a bound e on the error of x̄ after k steps: ‖x̄_k − x̄_0 + γ Σ_t ḡ_t‖ ≤ e · k γ max ‖g‖, the
  /// largest gradient of any rank in these steps. 0: exact up to rounding. None: x̄ follows something else, as a
  /// momentum.
  std::optional<double> mean_error = std::nullopt;
  /// Of a decentralized method: the distance between ranks shrinks at least by this factor in each step that exchanges,
  /// where gradients are zero. None: it is smaller at the end than at its largest.
  std::optional<double> contraction = std::nullopt;
  /// Factor s of error feedback: once gradients stay zero, x̄ comes to x̄_0 − s γ Σ_t ḡ_t, however far it was from
  /// there meanwhile. None: what a codec loses stays lost, or x̄ follows something else.
  std::optional<double> settles = std::nullopt;
  /// Why x̄ may move along a gradient that is the same in all steps and on all ranks, as a sentence. Empty: it moves
  /// against it.
  Refusal may_climb = {};
  /// Why ranks that train may hold different `list_state` items before the first step, as a sentence. Empty: items of
  /// the same length are equal then.
  Refusal may_start_apart = {};
};

/// The hooks of a step, all empty by default. Algorithms hold state in members only, name no backend, never access the
/// memory of a Buffer themselves and use no thread.
class Algorithm {
 public:
  static constexpr const char* registry_kind = "algorithm";
  virtual ~Algorithm() = default;

  virtual Trigram trigram() const = 0;
  virtual Refusal refuses(Option) const { return {}; }
  /// False where results depend on timing (a polled Pending): same-bits tests then hold in the simulator only.
  virtual bool deterministic() const { return true; }
  /// Whether a bucket may be stepped within backward, right after its own gradients_ready (with overlap and the run's
  /// optimizer_in_backward): its update waits for no exchange of gradients.
  virtual bool local_updates() const { return false; }
  /// Whether a step may be done without ranks that are gone: every exchange leaves them out
  /// (Communicator::exchange_with_those_there, ask_those_there) or is given up (Communicator::with_all_there), and
  /// nothing else waits for them.
  virtual bool bears_absence() const { return false; }
  /// Whether ranks send each other requests by RPC (core/lane/service.hpp).
  virtual bool asks() const { return false; }
  /// How many of the data-parallel group's `ranks` ranks only serve: the last ones. They train nothing, have no data,
  /// start with the initial weights, and get only the hooks `setup` and `finish`.
  virtual int servers(int /*ranks*/) const { return 0; }
  /// False where the run's optimizer steps nothing, since the algorithm changes all weights by itself, in `update`: it
  /// then holds what optimizers it needs (1-bit Adam), and a run that names one is refused.
  virtual bool uses_optimizer() const { return true; }
  /// False where hooks look at no gradient, since the optimizer alone does: a bucket's may then be memory that nobody
  /// has written, where a loop has its own ones elsewhere.
  virtual bool reads_gradients() const { return true; }
  /// The part of `bucket` that the run's optimizer steps on this rank and keeps state for: the whole, `bucket.part(…)`,
  /// other weights or another direction (`bucket.along(…)`), or nothing. Called once per bucket, after `setup`.
  virtual std::optional<Bucket> stepped(const Worker&, const Bucket& bucket) const { return bucket; }
  /// Rounds and bytes sent by one rank in one step; equal to what metering counts. Of an asynchronous method, what one
  /// exchange costs, in each step that may begin one.
  virtual Cost cost(const CostQuery& query) const = 0;
  /// Throws UsageError for what no rank should start with: a topology that has no such size, a codec that would
  /// diverge. Called once, with the place of rank 0, before any rank starts.
  virtual void check(const CostQuery&) const {}
  /// By default what the trigram promises: replicas of synchronous centralized methods are equal after exchanges, those
  /// of asynchronous centralized ones at the end; in full precision, where the run's optimizer steps, mean_error is 0.
  /// `query` says how many ranks there are, and on which nodes.
  virtual Invariants invariants(const CostQuery& query) const;
  /// Parameter sets that `trigram check` tests, "" for the defaults; together they change every parameter from its
  /// default, and short periods keep trials short.
  virtual std::vector<std::string> trials() const { return {""}; }

  // The hooks run on the main lane, in this order. Those with a bucket are called once per bucket and step. With
  // overlap, optimizer_in_backward and local_updates(), update and after_update of a bucket follow its gradients_ready,
  // within backward; else they follow before_update.
  virtual void setup(Worker&, std::span<Bucket>) {}  ///< before the first step: allocate state; weights are equal
  virtual void before_forward(Worker&) {}            ///< start exchanges that overlap with forward and backward
  virtual void gradients_ready(Worker&, Bucket&) {}  ///< the bucket's gradients are complete: start their exchange
  virtual void before_update(Worker&) {}             ///< after backward: wait for the exchanges that the update needs
  /// Step what the algorithm steps by itself; the optimizer has stepped its part. What is computed on the Device here
  /// costs no time where the workload's time of a step includes the update.
  virtual void update(Worker&, Bucket&) {}
  virtual void after_update(Worker&, Bucket&) {}  ///< the bucket's weights are stepped: start their exchange
  virtual void after_step(Worker&) {}             ///< wait for exchanges of weights: forward reads the weights next
  virtual void finish(Worker&) {}                 ///< after the last step: end background tasks; weights are final

  /// Called at a checkpoint, between two steps, the same on all ranks: end background tasks, so that nothing is under
  /// way that `list_state` cannot save. The next step follows once all ranks have returned.
  virtual void quiesce(Worker&) {}
  /// Called between two steps, after `quiesce`, on a bucket whose own weights are put back afterwards: replaces its
  /// weights by those of the model that the method trains, the same on all ranks. That is the mean over ranks unless
  /// the method keeps such a model itself, as DiLoCo its outer weights. Collective.
  virtual void global_weights(Worker& worker, Bucket& bucket);
  /// Names what members keep from one step to the next and `setup` does not bring back. Weights are the trainer's.
  /// (`trigram check` trains to a checkpoint and on from it, and finds other weights where something is missing.)
  virtual void list_state(State&) {}
};

using Algorithms = Registry<Algorithm>;

}  // namespace trigram
