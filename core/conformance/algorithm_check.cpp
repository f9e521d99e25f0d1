#include "core/conformance/algorithm_check.hpp"

#include <algorithm>

#include "core/conformance/mean_path.hpp"
#include "core/conformance/membership_check.hpp"
#include "core/conformance/trial.hpp"
#include "core/training/handover.hpp"
#include "core/values/cost_text.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

using Replicas = Invariants::Replicas;

/// Of all ranks; empty where they are equal.
std::string first_difference(const std::vector<std::vector<float>>& weights) {
  for (std::size_t rank = 1; rank < weights.size(); ++rank) {
    const auto [own, first] = std::mismatch(weights[rank].begin(), weights[rank].end(), weights[0].begin());
    if (own == weights[rank].end()) continue;
    return "weight " + std::to_string(own - weights[rank].begin()) + " is " + short_text(*own) + " on rank " +
           std::to_string(rank) + " and " + short_text(*first) + " on rank 0";
  }
  return {};
}

/// Of what ranks that train hold before the first step; empty where they hold the same. Items of another length are
/// parts of their own.
std::string first_item_apart(const Training& training) {
  const std::vector<StateItem> first = items_of(training.ranks.front().state);
  for (const RankReport& rank : training.ranks) {
    if (rank.steps_done == 0) continue;
    const std::vector<StateItem> own = items_of(rank.state);
    for (std::size_t i = 0; i < std::min(own.size(), first.size()); ++i) {
      if (own[i].name.starts_with(of_the_rank_alone) || own[i].name != first[i].name) continue;
      if (own[i].bytes.size() != first[i].bytes.size() || own[i].bytes == first[i].bytes) continue;
      return "before the first step rank " + std::to_string(rank.rank) + " holds another " + in_quotes(own[i].name) +
             " than rank 0; ranks must begin with the same, or invariants() say in may_start_apart why not";
    }
  }
  return {};
}

/// The checks of one trial, one function an invariant.
class AlgorithmCheck {
 public:
  AlgorithmCheck(const Trial& trial, const CheckedPlace& place, Tried& tried)
      : trial_(trial), place_(place), tried_(tried) {}

  void run() {
    const TrialRun flat{.steps = tried_.steps};
    const Training training = trial_.train(flat);
    start(training);
    communication(training);
    cost(training, flat);
    replicas(training, flat);
    mean(training, flat);
    report_if("direction", flat, wrong_direction(trial_, flat.steps));
    report_if("settling", flat, wrong_settling(trial_, training, flat.steps));
    compare_with_reference(training, flat);
    bits(training, flat);
    state();
    if (trial_.ranks() == 1) return;
    membership();
    if (!mean_finds_one_rank()) influence(training, flat);
    if (trial_.decentralized() && trial_.synchronous()) contraction();
    for (const Hierarchy hierarchy : {Hierarchy::leader, Hierarchy::all_nics}) within(hierarchy);
  }

 private:
  void report(const std::string& invariant, const TrialRun& run, const std::string& text) {
    const std::string where =
        run.hierarchy == Hierarchy::none ? "" : "with hierarchy " + std::string(name_of(run.hierarchy)) + ", ";
    tried_.violations.push_back({invariant, where + text});
  }

  void report_if(const std::string& invariant, const TrialRun& run, const std::string& text) {
    if (!text.empty()) report(invariant, run, text);
  }

  void within(Hierarchy hierarchy) {
    const bool supported = !trial_.refuses(hierarchy == Hierarchy::leader ? Option::leader : Option::all_nics);
    if (!supported || !trial_.has_nodes() || (hierarchy == Hierarchy::all_nics && !trial_.has_equal_nodes())) return;
    const TrialRun nested{.steps = tried_.steps, .hierarchy = hierarchy};
    if (!trial_.refusal(nested).empty()) return;
    const Training training = trial_.train(nested);
    cost(training, nested);
    replicas(training, nested);
    // A node is one vertex of a decentralized method, whatever its size: the mean over ranks moves where sizes differ.
    if (!trial_.decentralized() || trial_.has_equal_nodes()) mean(training, nested);
  }

  void start(const Training& training) {
    if (trial_.invariants(Hierarchy::none).may_start_apart.empty()) report_if("start", {}, first_item_apart(training));
  }

  void communication(const Training& training) {
    if (trial_.ranks() == 1) return;
    if (!trial_.last_exchange(tried_.steps)) {
      return report("communication", {},
                    "no exchange is declared in the first " + std::to_string(Trial::longest) +
                        " steps; where periods are longer, try it with a shorter one");
    }
    for (const RankReport& rank : training.ranks) {
      if ((rank.setup_and_finish + rank.sent).rounds > 0) continue;
      return report("communication", {},
                    "rank " + std::to_string(rank.rank) + " takes part in no exchange in " +
                        std::to_string(tried_.steps) + " steps");
    }
  }

  void cost(const Training& training, const TrialRun& run) {
    for (const RankReport& rank : training.ranks) {
      const std::string wrong = trial_.synchronous() ? wrong_step(rank, run) : wrong_sum(rank, run, training.ranks[0]);
      if (!wrong.empty()) return report("cost", run, "rank " + std::to_string(rank.rank) + wrong);
    }
  }

  std::string wrong_step(const RankReport& rank, const TrialRun& run) const {
    for (std::int64_t step = 0; step < run.steps; ++step) {
      const Cost counted = rank.cost_by_step[static_cast<std::size_t>(step)];
      const Cost declared = trial_.declared(run, rank.rank, step);
      if (counted == declared) continue;
      return ", step " + std::to_string(step) + ": counted " + text_of(counted) + ", declared " + text_of(declared);
    }
    if (rank.setup_and_finish == Cost{}) return {};
    return ", outside of steps: counted " + text_of(rank.setup_and_finish) + ", a synchronous method has none";
  }

  /// What the last step that exchanges declares is exchanged as often as the clock says, and as often on every rank
  /// unless ranks ask each other; steps that declare something else do so once each.
  std::string wrong_sum(const RankReport& rank, const TrialRun& run, const RankReport& first) const {
    const std::optional<std::int64_t> last = trial_.last_exchange(run.steps);
    if (!last) return no_exchange_declared(rank);
    const Cost repeated = trial_.declared(run, rank.rank, *last);
    const Cost rest = rest_of(rank, run, repeated);
    const std::int64_t times = repeated.rounds > 0 ? rest.rounds / repeated.rounds : 0;
    if (trial_.algorithm().asks()) {
      if (rest == Cost{times * repeated.rounds, times * repeated.bytes}) return {};
      return ": counted " + text_of(rest) + ", which is no multiple of " + text_of(repeated);
    }
    const Cost of_first = trial_.declared(run, first.rank, *last);
    const std::int64_t times_of_first =
        of_first.rounds > 0 ? rest_of(first, run, of_first).rounds / of_first.rounds : times;
    if (rest == Cost{times * repeated.rounds, times * repeated.bytes} && times == times_of_first) return {};
    return ": counted " + text_of(rest) + ", which is not " + std::to_string(times_of_first) + " times " +
           text_of(repeated);
  }

  std::string no_exchange_declared(const RankReport& rank) const {
    const Cost counted = rank.setup_and_finish + rank.sent;
    if (counted == Cost{}) return {};
    return ": counted " + text_of(counted) + ", and cost() declares no exchange in " + std::to_string(tried_.steps) +
           " steps; an asynchronous method declares what one exchange costs, in each step that may begin one";
  }

  /// What is left without the steps that declare something else than `repeated`.
  Cost rest_of(const RankReport& rank, const TrialRun& run, Cost repeated) const {
    Cost rest = rank.setup_and_finish + rank.sent;
    for (std::int64_t step = 0; step < rank.steps_done; ++step) {
      const Cost declared = trial_.declared(run, rank.rank, step);
      if (declared != repeated) rest = {rest.rounds - declared.rounds, rest.bytes - declared.bytes};
    }
    return rest;
  }

  void replicas(const Training& training, const TrialRun& run) {
    const Replicas promised = trial_.invariants(run.hierarchy).replicas;
    const std::vector<EvalRow> rows = evaluations(training.ranks);
    if (rows.front().consensus_distance != 0) return report("replicas", run, "ranks start with different weights");
    if (promised == Replicas::free) return;
    for (std::int64_t step = 0; promised == Replicas::equal_after_exchanges && step < run.steps; ++step) {
      const double apart = rows[static_cast<std::size_t>(step) + 1].consensus_distance;
      if (apart == 0 || !trial_.exchanges(step)) continue;
      return report("replicas", run,
                    "after the exchange of step " + std::to_string(step) + " ranks are " + short_text(apart) +
                        " apart; they must be equal");
    }
    if (promised == Replicas::equal_after_exchanges && !trial_.exchanges(run.steps - 1)) return;
    const std::string difference = first_difference(weights_of(training));
    if (!difference.empty()) report("replicas", run, "at the end " + difference + "; they must be equal");
  }

  void mean(const Training& training, const TrialRun& run) {
    report_if("mean", run, wrong_mean(trial_, run, training));
  }

  /// Without one rank the mean is off by about a gradient's n-th part.
  bool mean_finds_one_rank() const {
    const std::optional<double> promised = trial_.invariants(Hierarchy::none).mean_error;
    return promised && *promised * 2 * trial_.training_ranks() <= 1;
  }

  void influence(const Training& training, const TrialRun& run) {
    if (!repeatable()) return;
    const bool on_all = trial_.invariants(Hierarchy::none).replicas != Replicas::free;
    const auto before = weights_of(training);
    for (int rank = 0; rank < trial_.training_ranks(); ++rank) {
      TrialRun negated = run;
      negated.workload += ":negated=" + std::to_string(rank);
      const auto after = weights_of(trial_.train(negated));
      int changed = 0;
      for (std::size_t other = 0; other < after.size(); ++other) {
        if (static_cast<int>(other) != rank && after[other] != before[other]) ++changed;
      }
      if (changed == trial_.training_ranks() - 1 || (!on_all && changed > 0)) continue;
      return report("influence", run,
                    "other gradients on rank " + std::to_string(rank) + " change the weights of " +
                        std::to_string(changed) + " of " + std::to_string(trial_.training_ranks() - 1) +
                        " other ranks");
    }
  }

  void contraction() {
    constexpr std::int64_t enough = 12;
    const TrialRun quiet{.steps = std::max(enough, tried_.steps), .workload = "known_gradients:until=1"};
    const std::vector<EvalRow> rows = evaluations(trial_.train(quiet).ranks);
    const std::optional<double> promised = trial_.invariants(Hierarchy::none).contraction;
    const double apart = rows[1].consensus_distance;
    const bool full = trial_.algorithm().trigram().precision == Trigram::Precision::full;
    // Differences shrink with what they encode; 1/50 of the first distance is far above what a fine codec leaves.
    const double left_over = full ? 1e-5 : apart / 50;
    double bound = apart, worst = 0;
    for (std::int64_t step = 1; step < quiet.steps; ++step) {
      const double found = rows[static_cast<std::size_t>(step) + 1].consensus_distance;
      worst = std::max(worst, rows[static_cast<std::size_t>(step)].consensus_distance);
      if (!promised) continue;
      if (trial_.exchanges(step)) bound *= *promised;
      if (found <= bound + left_over) continue;
      return report("contraction", quiet,
                    "after step " + std::to_string(step) + " ranks are " + short_text(found) + " apart, " +
                        short_text(apart) + " after step 0; declared at most " + short_text(bound));
    }
    const double last = rows.back().consensus_distance;
    if (!(last == 0 || last < worst))
      report("contraction", quiet, "ranks stay " + short_text(last) + " apart without gradients");
  }

  bool repeatable() const { return trial_.algorithm().deterministic() || place_.backend.simulated(); }

  void bits(const Training& training, const TrialRun& run) {
    if (!place_.same_bits || !repeatable()) return;
    const auto weights = weights_of(training);
    // What is the same without overlap has been repeated; only a model's time can still differ.
    if (place_.backend.simulated() || trial_.refuses(Option::overlap)) repeated(training, run);
    if (!trial_.algorithm().deterministic() || trial_.refuses(Option::overlap)) return;
    TrialRun serial = run;
    serial.overlap = false;
    const Training without = trial_.train(serial);
    cost(without, serial);
    if (weights_of(without) != weights) report("bits", run, "without overlap weights are others");
  }

  void repeated(const Training& training, const TrialRun& run) {
    const Training again = trial_.train(run);
    if (weights_of(again) != weights_of(training)) report("bits", run, "the same seed gives other weights");
    if (place_.backend.simulated() && again.seconds != training.seconds) {
      report("bits", run, "the same seed takes other simulated time");
    }
  }

  /// The checkpoint is in the middle of most periods. Where time decides, ranks still have to end as they must.
  void state() {
    TrialRun run{.steps = tried_.steps, .checkpoint_every = tried_.steps / 2 + 1};
    const Training whole = trial_.train(run);
    run.go_on = &whole.ranks;
    const Training rest = trial_.train(run);
    replicas(rest, run);
    if (!place_.same_bits || !repeatable()) return;
    const std::string after = "from a checkpoint after step " + std::to_string(run.checkpoint_every) + " of " +
                              std::to_string(run.steps) + " on, ";
    if (weights_of(rest) != weights_of(whole)) {
      report("state", run,
             after + "weights are others than without an interruption; list_state() must name all " +
                 "that is kept from step to step, and quiesce() end what is under way");
    }
    if (place_.backend.simulated() && rest.seconds != whole.seconds)
      report("state", run, after + "training ends after other simulated time than without an interruption");
    if (!place_.backend.simulated() && !trial_.synchronous()) return;  // what is in the background is up to the clock
    for (const RankReport& rank : rest.ranks) {
      const RankReport& same = whole.ranks[static_cast<std::size_t>(rank.rank)];
      if (rank.cost_by_step == same.cost_by_step && rank.sent == same.sent) continue;
      return report("state", run, after + "rank " + std::to_string(rank.rank) + " sends other bytes");
    }
  }

  /// Where ranks are processes, nobody can join them here; and where weights are those of the reference, it is tried
  /// there.
  void membership() {
    const bool as_reference = place_.reference != nullptr && place_.same_bits && trial_.algorithm().deterministic();
    if (place_.backend.spans_processes() || as_reference) return;
    for (Violation& one : wrong_memberships(trial_, tried_.steps / 2 + 1)) tried_.violations.push_back(std::move(one));
  }

  /// A place that performs collectives itself adds their declared cost, so it must find again what another one counts.
  void compare_with_reference(const Training& training, const TrialRun& run) {
    if (place_.reference == nullptr) return;
    const Training reference = trial_.train(*place_.reference, run);
    if (place_.same_bits && trial_.algorithm().deterministic() && weights_of(reference) != weights_of(training)) {
      report("bits", run, "weights are others than on the reference");
    }
    for (const RankReport& rank : training.ranks) {
      const auto& counted = reference.ranks[static_cast<std::size_t>(rank.rank)].cost_by_step;
      if (!trial_.synchronous() || rank.cost_by_step == counted) continue;
      const auto [own, other] = std::mismatch(rank.cost_by_step.begin(), rank.cost_by_step.end(), counted.begin());
      return report("cost", run,
                    "rank " + std::to_string(rank.rank) + ", step " + std::to_string(own - rank.cost_by_step.begin()) +
                        ": counted " + text_of(*own) + ", on the reference " + text_of(*other));
    }
  }

  const Trial& trial_;
  const CheckedPlace& place_;
  Tried& tried_;
};

Cost first_exchange(const Trial& trial, std::int64_t steps) {
  for (std::int64_t step = 0; step < steps; ++step) {
    const Cost cost = trial.declared({}, 0, step);
    if (cost.rounds > 0) return cost;
  }
  return {};
}

}  // namespace

std::vector<std::string> trial_specs(const std::string& spec) {
  const auto algorithm = Algorithms::make(spec);
  const Spec given = Spec::parse(spec);
  if (!given.parameters.empty() || !Algorithms::stands_for(given.name).empty()) return {spec};
  std::vector<std::string> all;
  for (const std::string& trial : algorithm->trials()) all.push_back(given.name + (trial.empty() ? "" : ":") + trial);
  return all;
}

std::vector<Violation> untried_parameters(const std::string& name) {
  std::vector<Violation> untried;
  if (!Algorithms::stands_for(name).empty()) return untried;
  const std::vector<std::string> trials = Algorithms::make(name)->trials();
  for (const Params::Declared& parameter : Algorithms::parameters(name)) {
    const bool tried = std::any_of(trials.begin(), trials.end(), [&](const std::string& trial) {
      const Params params("trial '" + trial + "' of algorithm '" + name + "'", trial);
      return params.has(parameter.key) && params.values().at(parameter.key) != parameter.fallback;
    });
    if (tried) continue;
    untried.push_back({"trials", "parameter " + parameter.key + " is " + parameter.fallback +
                                     " in all of them; trials() must name one with another value"});
  }
  return untried;
}

Tried try_algorithm(const std::string& spec, const CheckedPlace& place, int ranks) {
  const Trial trial(spec, place.backend, ranks);
  Tried tried{spec, ranks, trial.refusal({.steps = 1}), 0, {}, {}};
  if (!tried.refusal.empty()) return tried;
  tried.steps = trial.steps_with_exchanges();
  tried.exchange = first_exchange(trial, tried.steps);
  try {
    AlgorithmCheck(trial, place, tried).run();
  } catch (const Error& error) {
    if (place.backend.spans_processes()) throw;  // other processes are at other places by now
    tried.violations.push_back({"training", error.what()});
  }
  return tried;
}

}  // namespace trigram
