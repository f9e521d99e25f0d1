// A workload whose gradients the test writes: the oracle for rules that are stated for given gradients.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/step/bucket.hpp"

namespace trigram::testing {

/// What the workload "scripted" does until the next script. One parameter a layer.
struct Script {
  std::vector<std::int64_t> layers{7};  ///< elements of each layer; element indices count through all layers
  std::vector<Dimensions> dimensions;   ///< of each layer; vectors where there are none
  std::function<float(std::int64_t element)> initial = [](std::int64_t) { return 0.0F; };
  /// The gradient of one element, at this rank's weight of that element.
  std::function<float(std::int64_t step, int rank, std::int64_t element, float weight)> gradient =
      [](std::int64_t, int, std::int64_t, float) { return 0.0F; };
  /// Score of a model for evaluation rows, from all its weights.
  std::function<double(const std::vector<float>& weights)> accuracy = [](const std::vector<float>&) { return 0.0; };
  double layer_seconds = 0;  ///< simulated time of one layer's pass
  int failing_rank = -1;     ///< throws in the forward pass of step `failing_step`
  std::int64_t failing_step = 0;
};

/// How many workloads of that name there are in this process: a rank's goes with its buffers.
std::atomic<int>& living_workloads();

/// Installs the script; call it before ranks start.
void play(const Script& script);

}  // namespace trigram::testing
