// Topologies by name, and how fast they mix.
#include "core/topologies/topology.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <functional>

namespace trigram {

namespace {

Eigen::MatrixXd mixing_matrix(const Topology& topology, std::int64_t step) {
  const int n = topology.size();
  Eigen::MatrixXd mixing = Eigen::MatrixXd::Zero(n, n);
  for (int vertex = 0; vertex < n; ++vertex) {
    for (const auto& [other, weight] : topology.row(vertex, step)) mixing(vertex, other) = weight;
  }
  return mixing;
}

/// Of a symmetric matrix, in absolute value.
double largest_eigenvalue(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().cwiseAbs().maxCoeff();
}

/// In absolute value; 0 of a matrix of one.
double second_eigenvalue(const Eigen::MatrixXd& matrix) {
  if (matrix.rows() == 1) return 0;
  Eigen::VectorXd lengths = Eigen::EigenSolver<Eigen::MatrixXd>(matrix, false).eigenvalues().cwiseAbs();
  std::nth_element(lengths.begin(), lengths.begin() + 1, lengths.end(), std::greater<>());
  return lengths(1);
}

}  // namespace

std::vector<int> Topology::receives_from(int vertex, std::int64_t step) const {
  std::vector<int> peers;
  for (const auto& [other, weight] : row(vertex, step)) {
    if (other != vertex) peers.push_back(other);
  }
  return peers;
}

const char* name_of(Topology::Stochasticity stochasticity) {
  switch (stochasticity) {
    case Topology::Stochasticity::doubly:
      return "doubly stochastic";
    case Topology::Stochasticity::row:
      return "row stochastic";
    case Topology::Stochasticity::column:
      return "column stochastic";
  }
  throw Error("not a stochasticity");
}

// Where W is doubly stochastic, J takes away exactly the eigenvalue 1 of the mean. Where W is symmetric the eigenvalues
// of W − J remain; elsewhere its singular values, which for a normal W are the absolute eigenvalues.
double spectral_gap(const Topology& topology, std::int64_t step) {
  const Eigen::MatrixXd mixing = mixing_matrix(topology, step);
  if (topology.stochasticity() != Topology::Stochasticity::doubly) return 1.0 - second_eigenvalue(mixing);
  const int n = topology.size();
  const Eigen::MatrixXd deviation = mixing - Eigen::MatrixXd::Constant(n, n, 1.0 / n);
  if (topology.directed()) return 1.0 - std::sqrt(largest_eigenvalue(deviation.transpose() * deviation));
  return 1.0 - largest_eigenvalue(deviation);
}

std::optional<double> contraction_of(const Topology& topology) {
  if (topology.period() != 1 || topology.stochasticity() != Topology::Stochasticity::doubly) return std::nullopt;
  return 1.0 - spectral_gap(topology);
}

std::unique_ptr<Topology> make_topology(const std::string& spec, const Vertices& vertices) {
  std::unique_ptr<Topology> topology = Topologies::make(spec);
  topology->resize(vertices);
  return topology;
}

std::unique_ptr<Topology> make_doubly_stochastic(const std::string& spec, const Vertices& vertices,
                                                 const std::string& method) {
  std::unique_ptr<Topology> topology = make_topology(spec, vertices);
  require(topology->stochasticity() == Topology::Stochasticity::doubly,
          "algorithm '" + method + "' needs a mixing matrix that keeps the mean over ranks, but topology=" + spec +
              " is only " + name_of(topology->stochasticity()) +
              "; take one that is doubly stochastic, as ring or exponential are");
  return topology;
}

}  // namespace trigram
