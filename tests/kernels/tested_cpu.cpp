// The suites' device: this processor with its widest instructions.
#include "tests/kernels/test_device.hpp"

namespace trigram {

std::shared_ptr<Kernels> tested_kernels() {
  static const std::shared_ptr<Kernels> kernels = cpu_kernels();
  return kernels;
}

}  // namespace trigram
