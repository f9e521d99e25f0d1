// Who talks to whom in a decentralized method, at which step, and with which weight.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/registry.hpp"

namespace trigram {

/// A graph, or a sequence of graphs, over the vertices 0 … size−1, made for one size. Any size from 1 on is an
/// ordinary case: a ring of two has one neighbour, a graph of one has none. Its weights are the rows of a mixing
/// matrix W(step): weight(i, j) is what vertex i gives to what it receives from j; weight(i, i) is its own share.
class Topology {
 public:
  static constexpr const char* registry_kind = "topology";
  virtual ~Topology() = default;

  /// Fixes the number of vertices. Throws UsageError, naming the size, when the graph cannot have it.
  virtual void resize(int size) = 0;
  virtual int size() const = 0;

  /// Peers without the rank itself and without duplicates, in ascending order.
  virtual std::vector<int> sends_to(int rank, std::int64_t step) const = 0;
  virtual std::vector<int> receives_from(int rank, std::int64_t step) const = 0;

  /// W(step)[rank][peer]; rows sum to 1, and so do columns (doubly stochastic).
  virtual double weight(int rank, int peer, std::int64_t step) const = 0;

  /// True when W is not symmetric.
  virtual bool directed() const = 0;

  /// Steps after which the schedule repeats; 1 for a fixed graph, 0 for a random one.
  virtual std::int64_t period() const = 0;
};

/// 1 − (second largest absolute eigenvalue or singular value) of W(step): of the eigenvalues where W is symmetric or
/// circulant (normal), of the singular values of W − J otherwise.
double spectral_gap(const Topology& topology, std::int64_t step = 0);

/// What one exchange multiplies the distance from the mean by, at most: 1 − spectral_gap. None where W changes from
/// step to step: only a product of several mixes then.
std::optional<double> contraction_of(const Topology& topology);

using Topologies = Registry<Topology>;

/// A topology by name, sized.
std::unique_ptr<Topology> make_topology(const std::string& spec, int size);

}  // namespace trigram
