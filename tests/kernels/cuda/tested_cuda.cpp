// The suites' device: the first GPU, or its double on the host. Without one, every test is skipped.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/kernels.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram {
namespace {

class NeedsDevice : public testing::Environment {
 public:
  void SetUp() override {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(status);
  }
};

testing::Environment* const needs_device = testing::AddGlobalTestEnvironment(new NeedsDevice);

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

}  // namespace

std::shared_ptr<Kernels> tested_kernels() {
  static const std::shared_ptr<Kernels> kernels = cuda_kernels(new_stream());
  return kernels;
}

}  // namespace trigram
