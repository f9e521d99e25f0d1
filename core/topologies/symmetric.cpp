// Undirected graphs: who a vertex sends to is who it hears from.
#include "core/topologies/symmetric.hpp"

namespace trigram {

void Symmetric::resize(int size) {
  require(size >= 1, "a topology has at least one vertex, not " + std::to_string(size));
  size_ = size;
}

std::vector<int> Symmetric::sends_to(int rank, std::int64_t step) const {
  std::vector<int> peers;
  for (const auto& [peer, weight] : row(rank, step)) {
    if (peer != rank) peers.push_back(peer);
  }
  return peers;
}

double Symmetric::weight(int rank, int peer, std::int64_t step) const {
  const Row weights = row(rank, step);
  const auto found = weights.find(peer);
  return found == weights.end() ? 0.0 : found->second;
}

Symmetric::Row Pairing::row(int rank, std::int64_t step) const {
  Row weights;
  weights[rank] += 0.5;
  weights[partner(rank, step)] += 0.5;
  return weights;
}

}  // namespace trigram
