// A machine without cuBLAS: kernels multiply matrices themselves.
#include "kernels/cuda/runtime/cublas.hpp"
#include "ptx/runtime/control.hpp"

namespace trigram::cuda {

std::unique_ptr<Cublas> Cublas::open(cudaStream_t) {
  cuda_on_host::note_cublas();
  return nullptr;
}

std::string Cublas::used() { return "its own kernels"; }

}  // namespace trigram::cuda
