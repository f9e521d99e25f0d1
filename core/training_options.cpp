#include "core/training_options.hpp"

namespace trigram {

std::unique_ptr<Workload> open_workload(const TrainingOptions& options, int rank, int world) {
  auto workload = Workloads::make(options.workload);
  workload->open({rank, world, options.global_batch, options.label_skew, options.relaxation.seed, options.validation});
  return workload;
}

}  // namespace trigram
