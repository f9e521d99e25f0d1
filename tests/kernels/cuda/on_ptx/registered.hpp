// Kernels of a few lines as objects of nvcc bring them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trigram::on_ptx {

/// Registers an object with one kernel of one parameter, an address, as nvcc's objects do before main, and stands for
/// that kernel. It lives as long as the process: nothing takes it back.
class Registered {
 public:
  Registered(const std::string& ptx, const char* name);

  cudaError_t launch(void* address, unsigned threads, cudaStream_t stream = nullptr) const;

 private:
  std::vector<char> binary_;
  struct Wrapper {
    std::uint32_t magic = 0x466243b1, version = 1;
    const char* binary = nullptr;
    void* file = nullptr;
  } wrapper_;
};

}  // namespace trigram::on_ptx
