// Tries an algorithm on any backend and holds it to what it declares: trigram, cost, invariants, trials.
//   training       every training ends: no deadlock, no error
//   start          before the first step ranks that train hold the same state
//   communication  with more than one rank, every rank takes part in an exchange
//   cost           what was counted on every rank in every step is what cost() says, also in hierarchies
//   replicas       ranks have the same weights, to the bit, where they must
//   mean           the mean of weights over ranks follows the mean gradient, up to the declared error
//   direction      where gradients are the same in each step, the mean of weights ends on their side
//   settling       where it is declared: what the mean is off by is made up for in steps without gradients
//   influence      where the mean cannot tell, other gradients on any one rank change the weights of others
//   contraction    without gradients, ranks of a decentralized method come closer as declared
//   bits           the same weights again, without overlap, and on the reference
//   state          a training that goes on from a checkpoint ends as the one that the checkpoint was taken of
//   membership     where ranks leave and join, replicas and the mean of weights are held to the same
//   trials         every parameter is tried with another value than its default
#pragma once

#include <string>
#include <vector>

#include "core/conformance/finding.hpp"
#include "core/step/algorithm.hpp"
#include "core/training/backend.hpp"

namespace trigram {

/// Where an algorithm is tried.
struct CheckedPlace {
  Backend& backend;
  Backend* reference = nullptr;  ///< a place with the same nodes that sends and counts every message itself, if any
  bool same_bits = true;         ///< false where `backend` adds in an order of its own
};

/// What came of one trial on one number of ranks.
struct Tried {
  std::string spec;
  int ranks = 1;
  std::string refusal;  ///< why these ranks cannot try it, in the algorithm's words; empty: they did
  std::int64_t steps = 0;
  Cost exchange;  ///< of rank 0, in the first step that exchanges
  std::vector<Violation> violations;
};

/// What is tried: of a name alone its trials, else what is given. Throws UsageError for what no algorithm accepts.
std::vector<std::string> trial_specs(const std::string& spec);

/// A violation for each parameter that no trial changes.
std::vector<Violation> untried_parameters(const std::string& name);

/// Trains the workload known_gradients on so many ranks, some ten times, each for a few steps.
Tried try_algorithm(const std::string& spec, const CheckedPlace& place, int ranks);

}  // namespace trigram
