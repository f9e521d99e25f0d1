// Charges kernels by a roofline.
#include "backends/sim/device.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>

#include "backends/sim/engine/blocking.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram::sim {

namespace {

class SimDevice final : public Device {
 public:
  SimDevice(const Cluster& cluster, Gpu& gpu, std::shared_ptr<Kernels> kernels, Timeline& timeline)
      : Device(std::move(kernels), timeline), cluster_(cluster), gpu_(gpu) {}

 protected:
  // seconds = launch + max(flops / peak, bytes / bandwidth)
  void spend(const KernelCost& cost) override {
    const bool known = cost.seconds > 0 && cost.flops == 0 && cost.bytes == 0;
    const double modelled = known ? 0
                                  : cluster_.kernel_launch + std::max(cost.flops / cluster_.gpu_flops,
                                                                      cost.bytes / cluster_.gpu_memory_bandwidth);
    spend_seconds(modelled + cost.seconds);
  }

  std::optional<CodecRate> rate_of(const CodecWork& work) const override { return cluster_.codec_rates.of(work); }

  // The host is another processor than the GPU: it is neither slow with it nor shared with its kernels.
  void spend_host(HostWork work) override {
    const double seconds = work == HostWork::call ? cluster_.call_overhead : cluster_.step_overhead;
    if (seconds > 0) blocking([seconds] { simgrid::s4u::this_actor::sleep_for(seconds); });
  }

  void spend_seconds(double seconds) override {
    if (seconds > 0) gpu_.compute(seconds);
  }

 private:
  const Cluster& cluster_;
  Gpu& gpu_;
};

}  // namespace

std::unique_ptr<Device> make_device(const Cluster& cluster, Gpu& gpu, Timeline& timeline) {
  static const std::shared_ptr<Kernels> kernels = cpu_kernels();
  return std::make_unique<SimDevice>(cluster, gpu, kernels, timeline);
}

}  // namespace trigram::sim
