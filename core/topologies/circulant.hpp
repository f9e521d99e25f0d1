// Graphs in which every vertex sees the same picture: a vertex i hears from i − offset, modulo the size.
#pragma once

#include <map>
#include <string>

#include "core/topologies/topology.hpp"

namespace trigram {

/// What a circulant graph is made of: the weight of each offset in 0 … size−1; offset 0 is the vertex's own share.
using OffsetWeights = std::map<int, double>;

/// A topology whose W is circulant, so normal and doubly stochastic whenever its weights sum to 1. Offsets that fall
/// together in a small graph add their weights.
class Circulant : public Topology {
 public:
  void resize(const Vertices& vertices) override;
  int size() const override { return size_; }
  Row row(int vertex, std::int64_t step) const override;
  std::vector<int> sends_to(int vertex, std::int64_t step) const override;

 protected:
  /// The weights of one step, offsets already reduced modulo the size.
  virtual OffsetWeights offsets(std::int64_t step) const = 0;
  /// Adds `weight` to `offset` modulo the size.
  void add(OffsetWeights& weights, int offset, double weight) const;

 private:
  int size_ = 1;
};

}  // namespace trigram
