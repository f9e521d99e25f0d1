// Makes the kernels of this processor.
#include "kernels/cpu/kernels.hpp"

namespace trigram {

std::shared_ptr<Kernels> cpu_kernels() { return std::make_shared<CpuKernels>(best_instructions()); }

}  // namespace trigram
