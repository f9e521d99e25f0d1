// Undirected graphs: who a vertex sends to is who it hears from.
#include "core/topologies/symmetric.hpp"

namespace trigram {

void Symmetric::resize(const Vertices& vertices) {
  require(vertices.count >= 1, "a topology has at least one vertex, not " + std::to_string(vertices.count));
  size_ = vertices.count;
}

Topology::Row Pairing::row(int vertex, std::int64_t step) const {
  Row weights;
  weights[vertex] += 0.5;
  weights[partner(vertex, step)] += 0.5;
  return weights;
}

}  // namespace trigram
