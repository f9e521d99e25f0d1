// Graphs in which every vertex sees the same picture.
#include "core/topologies/circulant.hpp"

#include <algorithm>

namespace trigram {

void Circulant::resize(const Vertices& vertices) {
  require(vertices.count >= 1, "a topology has at least one vertex, not " + std::to_string(vertices.count));
  size_ = vertices.count;
}

void Circulant::add(OffsetWeights& weights, int offset, double weight) const {
  weights[(offset % size_ + size_) % size_] += weight;
}

Topology::Row Circulant::row(int vertex, std::int64_t step) const {
  Row weights;
  for (const auto& [offset, weight] : offsets(step)) weights[(vertex - offset + size_) % size_] = weight;
  return weights;
}

std::vector<int> Circulant::sends_to(int vertex, std::int64_t step) const {
  std::vector<int> peers;
  for (const auto& [offset, weight] : offsets(step)) {
    if (offset != 0) peers.push_back((vertex + offset) % size_);
  }
  std::sort(peers.begin(), peers.end());
  return peers;
}

}  // namespace trigram
