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

}  // namespace

// W is doubly stochastic, so J takes away exactly the eigenvalue 1 of the mean. For a normal W the singular values of
// W − J are the absolute eigenvalues that remain, so that one rule serves both cases: the root of the largest
// eigenvalue of (W − J)ᵀ(W − J).
double spectral_gap(const Topology& topology, std::int64_t step) {
  const int n = topology.size();
  const Eigen::MatrixXd deviation = mixing_matrix(topology, step) - Eigen::MatrixXd::Constant(n, n, 1.0 / n);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> squares(deviation.transpose() * deviation, Eigen::EigenvaluesOnly);
  return 1.0 - std::sqrt(std::max(0.0, squares.eigenvalues().maxCoeff()));
}

std::unique_ptr<Topology> make_topology(const std::string& spec, int size) {
  std::unique_ptr<Topology> topology = Topologies::make(spec);
  topology->resize(size);
  return topology;
}

}  // namespace trigram
