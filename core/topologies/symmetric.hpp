// Undirected graphs: who a vertex sends to is who it hears from.
#pragma once

#include <map>

#include "core/topology.hpp"

namespace trigram {

/// A topology with W = Wᵀ, given row by row.
class Symmetric : public Topology {
 public:
  void resize(int size) override;
  int size() const override { return size_; }
  std::vector<int> sends_to(int rank, std::int64_t step) const override;
  std::vector<int> receives_from(int rank, std::int64_t step) const override { return sends_to(rank, step); }
  double weight(int rank, int peer, std::int64_t step) const override;
  bool directed() const override { return false; }

 protected:
  /// Weights by vertex, with the vertex itself; those left out are 0.
  using Row = std::map<int, double>;
  virtual Row row(int rank, std::int64_t step) const = 0;

 private:
  int size_ = 1;
};

/// A symmetric topology in which a vertex exchanges halves with at most one partner a step.
class Pairing : public Symmetric {
 protected:
  /// The partner of `rank`, or `rank` itself where it rests.
  virtual int partner(int rank, std::int64_t step) const = 0;
  /// W = 1/2, 1/2 for a pair, 1 for a vertex that rests.
  Row row(int rank, std::int64_t step) const override;
};

}  // namespace trigram
