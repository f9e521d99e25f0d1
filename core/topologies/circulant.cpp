// Graphs in which every vertex sees the same picture.
#include "core/topologies/circulant.hpp"

#include <algorithm>

namespace trigram {

void Circulant::resize(int size) {
  require(size >= 1, "a topology has at least one vertex, not " + std::to_string(size));
  size_ = size;
}

void Circulant::add(OffsetWeights& weights, int offset, double weight) const {
  weights[(offset % size_ + size_) % size_] += weight;
}

std::vector<int> Circulant::peers(int rank, int sign, std::int64_t step) const {
  std::vector<int> found;
  for (const auto& [offset, weight] : offsets(step)) {
    if (offset != 0) found.push_back((rank + sign * offset + size_) % size_);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<int> Circulant::sends_to(int rank, std::int64_t step) const { return peers(rank, 1, step); }

std::vector<int> Circulant::receives_from(int rank, std::int64_t step) const { return peers(rank, -1, step); }

double Circulant::weight(int rank, int peer, std::int64_t step) const {
  const OffsetWeights weights = offsets(step);
  const auto found = weights.find((rank - peer + size_) % size_);
  return found == weights.end() ? 0.0 : found->second;
}

}  // namespace trigram
