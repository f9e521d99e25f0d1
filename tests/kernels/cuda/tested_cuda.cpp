// The suites' device: the first GPU, or its double on the host. Without one, every test is skipped.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/runtime/check.hpp"
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

struct Stream {
  Stream() { cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t stream = nullptr;
};

}  // namespace

std::shared_ptr<Kernels> tested_kernels() {
  static const Stream lane;
  static const std::shared_ptr<Kernels> kernels = cuda_kernels(lane.stream);
  return kernels;
}

}  // namespace trigram
