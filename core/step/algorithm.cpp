#include "core/step/algorithm.hpp"

#include <array>

#include "core/values/error.hpp"

namespace trigram {

std::string Trigram::symbol() const {
  constexpr std::array<const char*, 8> symbols{"☷", "☳", "☵", "☱", "☶", "☲", "☴", "☰"};
  const std::size_t lines = (synchrony == Synchrony::synchronous ? 1U : 0U) + (precision == Precision::full ? 2U : 0U) +
                            (centrality == Centrality::centralized ? 4U : 0U);
  return symbols[lines];
}

std::string Trigram::words() const {
  return std::string(synchrony == Synchrony::synchronous ? "synchronous" : "asynchronous") +
         (precision == Precision::full ? ", full precision" : ", low precision") +
         (centrality == Centrality::centralized ? ", centralized" : ", decentralized");
}

Vertices vertices(const CostQuery& query) {
  if (query.hierarchy != Hierarchy::none) return query.place.nodes;
  return query.node_of_rank.empty() ? Vertices(query.place.ranks) : Vertices(query.node_of_rank);
}

Invariants Algorithm::invariants(const CostQuery&) const {
  const Trigram own = trigram();
  Invariants promised;
  if (own.centrality == Trigram::Centrality::centralized) {
    promised.replicas = own.synchrony == Trigram::Synchrony::synchronous ? Invariants::Replicas::equal_after_exchanges
                                                                         : Invariants::Replicas::equal_at_the_end;
  }
  if (own.precision == Trigram::Precision::full && uses_optimizer()) promised.mean_error = 0;
  return promised;
}

void Algorithm::global_weights(Worker& worker, Bucket& bucket) {
  worker.comm.all_reduce(bucket.weights, ReduceOp::sum);
  worker.device.scale(bucket.weights, 1.0F / static_cast<float>(worker.comm.size()));
}

const char* name_of(Option option) {
  switch (option) {
    case Option::overlap:
      return "overlap";
    case Option::leader:
      return "leader";
    case Option::all_nics:
      return "all_nics";
  }
  throw Error("not an option");
}

}  // namespace trigram
