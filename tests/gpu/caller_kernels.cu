// One thread an element.
#include "kernels/cuda/runtime/check.hpp"
#include "tests/gpu/caller_kernels.hpp"

namespace trigram::testing {
namespace {

constexpr unsigned block = 64;

unsigned blocks_for(std::int64_t count) { return static_cast<unsigned>((count + block - 1) / block); }

__device__ std::int64_t own_element() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

__global__ void differentiate(OwnLoss loss, OwnTensor tensor) {
  const std::int64_t i = own_element();
  if (i < tensor.count) tensor.gradients[i] = loss.gradient(tensor.weights[i], tensor.begin + i);
}

__global__ void go_along(float rate, const float* gradients, float* weights, std::int64_t count) {
  const std::int64_t i = own_element();
  if (i < count) weights[i] -= rate * gradients[i];
}

__global__ void set(float value, float* numbers, std::int64_t count) {
  const std::int64_t i = own_element();
  if (i < count) numbers[i] = value;
}

}  // namespace

void order_gradients(const OwnLoss& loss, const OwnTensor& tensor, cudaStream_t stream) {
  OwnLoss of = loss;
  OwnTensor to = tensor;
  void* arguments[] = {&of, &to};
  cuda::check(cudaLaunchKernel(differentiate, dim3(blocks_for(tensor.count)), dim3(block), arguments, 0, stream),
              "differentiate");
}

void order_step(float rate, const float* gradients, float* weights, std::int64_t count, cudaStream_t stream) {
  void* arguments[] = {&rate, &gradients, &weights, &count};
  cuda::check(cudaLaunchKernel(go_along, dim3(blocks_for(count)), dim3(block), arguments, 0, stream), "go_along");
}

void order_fill(float value, float* numbers, std::int64_t count, cudaStream_t stream) {
  void* arguments[] = {&value, &numbers, &count};
  cuda::check(cudaLaunchKernel(set, dim3(blocks_for(count)), dim3(block), arguments, 0, stream), "set");
}

}  // namespace trigram::testing
