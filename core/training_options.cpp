#include "core/training_options.hpp"

#include <algorithm>

#include "core/algorithm.hpp"

namespace trigram {

int training_ranks(const TrainingOptions& options, int world) {
  return world - Algorithms::make(options.algorithm)->servers(world);
}

std::unique_ptr<Workload> open_workload(const TrainingOptions& options, const Mesh& mesh, int rank) {
  auto workload = Workloads::make(options.workload);
  const int training = training_ranks(options, mesh.size(Mesh::data));
  workload->open({std::min(mesh.coordinate(Mesh::data, rank), training - 1), training, options.global_batch,
                  options.label_skew, options.relaxation.seed, options.validation, mesh});
  return workload;
}

}  // namespace trigram
