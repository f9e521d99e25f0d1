// Who talks to whom in a decentralized method, at which step, and with which weight.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/registry/registry.hpp"
#include "core/world/placement.hpp"

namespace trigram {

/// A graph, or a sequence of graphs, over the vertices 0 … size−1, made for one size. Any size from 1 on is an
/// ordinary case: a ring of two has one neighbour, a graph of one has none. Its weights are a mixing matrix W(step),
/// none of them negative: vertex i turns its value into Σ_j W_ij x_j.
class Topology {
 public:
  static constexpr const char* registry_kind = "topology";
  virtual ~Topology() = default;

  /// Which sums of W are 1, in every step. What a method may count on:
  enum class Stochasticity : std::uint8_t {
    doubly,  ///< rows and columns: equal values stay as they are, and mixing leaves the mean over vertices alone
    row,     ///< rows: equal values stay as they are
    column,  ///< columns: the sum over vertices stays; divide by push-sum weights, which start at 1, to get the mean
  };
  virtual Stochasticity stochasticity() const { return Stochasticity::doubly; }

  /// Fixes the vertices. Throws UsageError, naming their number, when the graph cannot have so many.
  virtual void resize(const Vertices& vertices) = 0;
  virtual int size() const = 0;

  /// One row of W by vertex, in ascending order: that of the vertex itself, and of those that it receives from.
  using Row = std::map<int, double>;
  virtual Row row(int vertex, std::int64_t step) const = 0;
  /// The vertices j ≠ vertex with W[j][vertex] > 0, in ascending order.
  virtual std::vector<int> sends_to(int vertex, std::int64_t step) const = 0;
  /// The vertices j ≠ vertex with W[vertex][j] > 0.
  std::vector<int> receives_from(int vertex, std::int64_t step) const;

  /// True when W is not symmetric.
  virtual bool directed() const = 0;

  /// Steps after which the schedule repeats; 1 for a fixed graph, 0 for a random one.
  virtual std::int64_t period() const = 0;
};

/// "doubly stochastic", "row stochastic", "column stochastic".
const char* name_of(Topology::Stochasticity stochasticity);

/// 1 − what remains of W(step) beside the eigenvalue 1, in absolute value: where W is doubly stochastic the largest
/// singular value of W − J, which is an eigenvalue of a symmetric or circulant (normal) W; else W's second eigenvalue.
double spectral_gap(const Topology& topology, std::int64_t step = 0);

/// What one exchange multiplies the distance from the mean by, at most: 1 − spectral_gap. None where W changes
/// from step to step, as one factor per step says nothing there, or is not doubly stochastic.
std::optional<double> contraction_of(const Topology& topology);

using Topologies = Registry<Topology>;

/// A topology by name, sized.
std::unique_ptr<Topology> make_topology(const std::string& spec, const Vertices& vertices);

/// The same for a method that needs the mean over vertices to stay where it is. Throws UsageError, naming both, unless
/// the topology is doubly stochastic.
std::unique_ptr<Topology> make_doubly_stochastic(const std::string& spec, const Vertices& vertices,
                                                 const std::string& method);

}  // namespace trigram
