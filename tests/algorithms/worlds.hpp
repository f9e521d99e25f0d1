// Places to train in, and what tests read from a training.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "core/conformance/trial.hpp"  // what the weights of a training are
#include "core/training/training.hpp"
#include "core/values/cost_text.hpp"  // how tests print costs

namespace trigram::testing {

/// Backend specs with `ranks_per_node` ranks a node; the last node takes what is left.
std::string threads(int ranks_per_node);
std::string simulator(int ranks_per_node, const std::string& fidelity = "exact");

/// Every kind of place that the executable trains in, as (short name, spec); one list an executable.
struct Place {
  std::string name;
  std::string backend;
  bool same_bits = true;  ///< false where a library adds in an order of its own
};
void PrintTo(const Place& place, std::ostream* out);
std::vector<Place> all_places(int ranks_per_node);

/// The names that stand for others with parameters.
std::vector<std::string> compositions();
/// The registered algorithms but for those and the mutants, whose names begin with "mutant/"; those of "newcomer/" are
/// honest.
std::vector<std::string> honest_algorithms();
/// Those of the catalogue alone, for what takes long.
std::vector<std::string> shipped_algorithms();

/// Those that together use everything of a backend (tests/basis.cmake), and the others of the catalogue.
std::vector<std::string> probes();
std::vector<std::string> others_than_probes();

/// A scripted training: plain SGD with learning rate 1/8, an evaluation a step, small buckets, final weights kept.
TrainingOptions scripted(const std::string& algorithm, std::int64_t steps);

/// Trains on `ranks` ranks.
Training train_on(const std::string& backend, int ranks, const TrainingOptions& options,
                  const std::string& all_reduce = "ring");

/// Mean over ranks, in double precision.
std::vector<double> mean_over_ranks(const std::vector<std::vector<float>>& values);

/// The evaluation rows of all ranks, by step.
std::vector<EvalRow> evaluations(const Training& training);

/// The shapes of the buckets that a training with these options has.
std::vector<BucketLayout> bucket_layouts(const TrainingOptions& options, int ranks);

/// What the algorithm declares for one rank in one step.
Cost declared_cost(const std::string& backend, int ranks, const TrainingOptions& options, int rank, std::int64_t step);

}  // namespace trigram::testing
