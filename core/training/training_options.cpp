#include "core/training/training_options.hpp"

#include <algorithm>

#include "core/step/algorithm.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

DType parse_gradients(const std::string& text) {
  if (text == "f32") return DType::f32;
  if (text == "fp16") return DType::f16;
  require(text == "bf16", "gradients ", Quoted(text), " are none of f32, fp16, bf16");
  return DType::bf16;
}

int training_ranks(const TrainingOptions& options, int world) {
  return world - Algorithms::make(options.algorithm)->servers(world);
}

bool bears_absence(const TrainingOptions& options) {
  return options.relaxation.hierarchy == Hierarchy::none && Algorithms::make(options.algorithm)->bears_absence();
}

std::unique_ptr<Workload> open_workload(const TrainingOptions& options, const Mesh& mesh, int rank) {
  auto workload = Workloads::make(options.workload);
  const int training = training_ranks(options, mesh.size(Mesh::data));
  workload->open({std::min(mesh.coordinate(Mesh::data, rank), training - 1), training, options.global_batch,
                  options.label_skew, options.relaxation.seed, options.validation, mesh});
  return workload;
}

}  // namespace trigram
