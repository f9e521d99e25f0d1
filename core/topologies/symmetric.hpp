// Undirected graphs: who a vertex sends to is who it hears from.
#pragma once

#include "core/topologies/topology.hpp"

namespace trigram {

/// A topology with W = Wᵀ, given row by row.
class Symmetric : public Topology {
 public:
  void resize(const Vertices& vertices) override;
  int size() const override { return size_; }
  std::vector<int> sends_to(int vertex, std::int64_t step) const override { return receives_from(vertex, step); }
  bool directed() const override { return false; }

 private:
  int size_ = 1;
};

/// A symmetric topology in which a vertex exchanges halves with at most one partner a step.
class Pairing : public Symmetric {
 public:
  /// W = 1/2, 1/2 for a pair, 1 for a vertex that rests.
  Row row(int vertex, std::int64_t step) const override;

 protected:
  /// The partner of `vertex`, or `vertex` itself where it rests.
  virtual int partner(int vertex, std::int64_t step) const = 0;
};

}  // namespace trigram
