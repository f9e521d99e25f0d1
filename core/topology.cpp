// Topologies by name, and how fast they mix.
#include "core/topology.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace trigram {

namespace {

Eigen::MatrixXd mixing_matrix(const Topology& topology, std::int64_t step) {
  const int n = topology.size();
  Eigen::MatrixXd mixing = Eigen::MatrixXd::Zero(n, n);
  for (int rank = 0; rank < n; ++rank) {
    mixing(rank, rank) = topology.weight(rank, rank, step);
    for (const int peer : topology.receives_from(rank, step)) mixing(rank, peer) = topology.weight(rank, peer, step);
  }
  return mixing;
}

/// Of a symmetric matrix, in absolute value.
double largest_eigenvalue(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().cwiseAbs().maxCoeff();
}

}  // namespace

// W is doubly stochastic, so J takes away exactly the eigenvalue 1 of the mean. Where W is symmetric the eigenvalues of
// W − J remain; elsewhere its singular values, which for a normal W are the absolute eigenvalues.
double spectral_gap(const Topology& topology, std::int64_t step) {
  const int n = topology.size();
  const Eigen::MatrixXd deviation = mixing_matrix(topology, step) - Eigen::MatrixXd::Constant(n, n, 1.0 / n);
  if (topology.directed()) return 1.0 - std::sqrt(largest_eigenvalue(deviation.transpose() * deviation));
  return 1.0 - largest_eigenvalue(deviation);
}

std::optional<double> contraction_of(const Topology& topology) {
  if (topology.period() != 1) return std::nullopt;
  return 1.0 - spectral_gap(topology);
}

std::unique_ptr<Topology> make_topology(const std::string& spec, int size) {
  std::unique_ptr<Topology> topology = Topologies::make(spec);
  topology->resize(size);
  return topology;
}

}  // namespace trigram
