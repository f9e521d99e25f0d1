// The modelled GPU of one lane: it computes on the CPU and charges simulated time.
#pragma once

#include <memory>

#include "backends/sim/cluster.hpp"
#include "core/device.hpp"

namespace trigram::sim {

/// A device whose kernels cost launch + max(flops / peak, bytes / bandwidth), spent as an execution on the rank's
/// host: lanes of one rank that compute at the same time share the GPU.
std::unique_ptr<Device> make_device(const Cluster& cluster, Timeline& timeline);

}  // namespace trigram::sim
