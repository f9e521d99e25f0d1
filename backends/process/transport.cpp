#include "backends/process/transport.hpp"

#include "kernels/cpu/kernels.hpp"

namespace trigram {

std::shared_ptr<Kernels> Transport::kernels() { return cpu_kernels(); }

}  // namespace trigram
