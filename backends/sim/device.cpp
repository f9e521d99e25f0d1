// Charges kernels by a roofline.
#include "backends/sim/device.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>

#include "backends/sim/blocking.hpp"
#include "backends/sim/platform.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram::sim {

namespace {

class SimDevice final : public Device {
 public:
  SimDevice(const Cluster& cluster, std::shared_ptr<Kernels> kernels, Timeline& timeline)
      : Device(std::move(kernels), timeline), cluster_(cluster) {}

 protected:
  // seconds = launch + max(flops / peak, bytes / bandwidth)
  void spend(const KernelCost& cost) override {
    spend_seconds(cluster_.kernel_launch +
                  std::max(cost.flops / cluster_.gpu_flops, cost.bytes / cluster_.gpu_memory_bandwidth));
  }

  void spend_seconds(double seconds) override {
    if (seconds <= 0) return;
    blocking([seconds] { simgrid::s4u::this_actor::execute(seconds * work_per_second); });
  }

 private:
  const Cluster& cluster_;
};

}  // namespace

std::unique_ptr<Device> make_device(const Cluster& cluster, Timeline& timeline) {
  static const std::shared_ptr<Kernels> kernels = cpu_kernels();
  return std::make_unique<SimDevice>(cluster, kernels, timeline);
}

}  // namespace trigram::sim
