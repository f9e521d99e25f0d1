// Quotients as kernels have them, by a kernel.
#include "kernels/cuda/quotient.hpp"
#include "kernels/cuda/runtime/check.hpp"
#include "tests/kernels/cuda/quotients.hpp"

namespace trigram {
namespace {

/// Memory of the device with these values.
class OnDevice {
 public:
  explicit OnDevice(const std::vector<float>& values) : bytes_(values.size() * sizeof(float)) {
    cuda::check(cudaMalloc(&memory, bytes_), "cudaMalloc");
    cuda::check(cudaMemcpy(memory, values.data(), bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~OnDevice() { static_cast<void>(cudaFree(memory)); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  std::vector<float> values() const {
    std::vector<float> host(bytes_ / sizeof(float));
    cuda::check(cudaMemcpy(host.data(), memory, bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return host;
  }

  float* memory = nullptr;

 private:
  std::size_t bytes_;
};

__global__ void divide(const float* divisors, float* x, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) x[i] = cuda::Quotient::by(divisors[i]).of_moderate(x[i]);
}

}  // namespace

std::vector<float> moderate_quotients(const std::vector<float>& x, const std::vector<float>& divisors) {
  constexpr unsigned threads = 256;
  const OnDevice quotients(x), by(divisors);
  if (!x.empty())
    divide<<<static_cast<unsigned>(x.size() / threads + 1), threads>>>(by.memory, quotients.memory, x.size());
  cuda::check(cudaGetLastError(), "divide");
  return quotients.values();
}

}  // namespace trigram
