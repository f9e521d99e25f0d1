// The host as a device that products are tried on: what others are compared with.
#include "core/conformance/tried_device.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

class Host final : public TriedDevice {
 public:
  std::unique_ptr<Device> make(Timeline& timeline) override {
    return std::make_unique<Device>(std::make_shared<CpuKernels>(Instructions::portable), timeline);
  }
};

const TriedDevices::Registration registration("cpu", {"this host, one element at a time"},
                                              [](Params&) { return std::make_unique<Host>(); });

}  // namespace
}  // namespace trigram
