// What the weights of all ranks are worth, out of band and at a stated time.
#pragma once

#include <functional>

#include "core/trainer.hpp"
#include "core/workload.hpp"

namespace trigram {

/// Hands in this rank's weights after `step` steps; on the rank that completes the collection `done` receives the row.
/// Accuracy is computed once for each distinct set of weights. Does nothing for a phantom workload.
void evaluate(Worker& worker, Workload& workload, std::span<const ParameterView> parameters, std::int64_t step,
              const std::function<void(const EvalRow&)>& done);

/// This rank's weights on the host, one vector per parameter.
Workload::HostWeights download_weights(Device& device, std::span<const ParameterView> parameters);

}  // namespace trigram
