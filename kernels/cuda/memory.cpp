// Device memory from the stream's pool, and copies.
#include <cstddef>

#include "core/values/error.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/runtime/check.hpp"
#include "kernels/cuda/runtime/fault.hpp"
#include "kernels/cuda/runtime/staging.hpp"

namespace trigram {

using cuda::check;

void* CudaKernels::allocate(std::size_t bytes) {
  void* address = allocate_unfilled(bytes);
  check(cudaMemsetAsync(address, 0, bytes, stream_), "cudaMemsetAsync");
  return address;
}

void* CudaKernels::allocate_unfilled(std::size_t bytes) {
  void* address = nullptr;
  check(cudaMallocAsync(&address, bytes, stream_), "allocating " + std::to_string(bytes) + " bytes on the GPU");
  return address;
}

/// Never throws: at the end of the process the runtime may be gone before the last buffer.
void CudaKernels::release(void* address) {
  if (address != nullptr) static_cast<void>(cudaFreeAsync(address, stream_));
}

void CudaKernels::upload(std::span<const std::byte> from, Buffer to) { staging_->upload(from, to.raw()); }

void CudaKernels::download(Buffer from, std::span<std::byte> to) {
  staging_->download(from.raw(), to);
  report_fault();
}

void CudaKernels::synchronize() {
  check(cudaStreamSynchronize(stream_), "synchronizing with the GPU");
  report_fault();
}

void CudaKernels::report_fault() {
  const int fault = *static_cast<volatile int*>(fault_);
  *fault_ = cuda::no_fault;
  ensure(fault != cuda::label_out_of_range, "a label given to the GPU is none of the classes");
  ensure(fault != cuda::row_out_of_range, "embedding: a position given to the GPU leaves the table");
  ensure(fault != cuda::foreign_top_k_frame,
         "top_k: a frame names an element that its vector has not; it is no frame of this codec");
  ensure(fault != cuda::foreign_chunk_top_k_frame,
         "chunk_top_k: a frame names an element that its chunk has not; it is no frame of this codec");
}

void CudaKernels::copy(Buffer from, Buffer to) {
  const auto bytes = static_cast<std::size_t>(from.bytes());
  const auto* begin = static_cast<const std::byte*>(from.raw());
  auto* target = static_cast<std::byte*>(to.raw());
  const bool overlaps = begin < target + bytes && target < begin + bytes;
  if (overlaps) {
    void* between = scratch(bytes);
    check(cudaMemcpyAsync(between, begin, bytes, cudaMemcpyDeviceToDevice, stream_), "copy");
    check(cudaMemcpyAsync(target, between, bytes, cudaMemcpyDeviceToDevice, stream_), "copy");
    return;
  }
  check(cudaMemcpyAsync(target, begin, bytes, cudaMemcpyDeviceToDevice, stream_), "copy");
}

}  // namespace trigram
