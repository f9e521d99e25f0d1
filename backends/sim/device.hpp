// The modelled GPU of one lane: it computes on the CPU and charges simulated time.
#pragma once

#include <memory>

#include "backends/sim/cluster/cluster.hpp"
#include "backends/sim/gpu.hpp"
#include "core/device/device.hpp"

namespace trigram::sim {

/// A device whose kernels cost launch + max(flops / peak, bytes / bandwidth), spent on the rank's GPU: lanes that
/// compute at the same time share it.
std::unique_ptr<Device> make_device(const Cluster& cluster, Gpu& gpu, Timeline& timeline);

}  // namespace trigram::sim
