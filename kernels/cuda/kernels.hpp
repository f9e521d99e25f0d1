// Arithmetic on the memory of one GPU, ordered on one stream.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <utility>

#include "core/device/kernels.hpp"

namespace trigram {

namespace cuda {
class Cublas;
class Staging;
}  // namespace cuda

/// Kernels of kind "cuda" of one lane. Every operation is enqueued on the lane's stream and returns at once; `download`
/// and `synchronize` wait for the stream, and only they report what went wrong on the device since: BackendError for
/// CUDA's errors, Error for a label or an index out of range. One thread at a time may call; `release` may come from
/// any thread, at any time until the process ends.
class CudaKernels : public Kernels {
 public:
  /// `stream` is the caller's, of the current device; it must outlive this object and all memory that it gave.
  /// Pinned host memory is set aside here and not later, where it would wait for the whole device.
  explicit CudaKernels(cudaStream_t stream);
  ~CudaKernels() override;
  CudaKernels(const CudaKernels&) = delete;
  CudaKernels& operator=(const CudaKernels&) = delete;

  cudaStream_t stream() const { return stream_; }
  /// Blocks of so many threads of a kernel that the device holds at once, which grids are sized by.
  std::int64_t resident_blocks(const void* kernel, unsigned threads) const;
  /// At least `bytes` of device memory for what one operation must keep between its launches. The next operation may
  /// overwrite it, which the stream orders.
  void* scratch(std::size_t bytes);
  /// Where a kernel writes a cuda::Fault, which the next wait reports.
  int* fault() const { return fault_; }

  std::string_view kind() const override { return "cuda"; }

  void* allocate(std::size_t bytes) override;
  void* allocate_unfilled(std::size_t bytes) override;
  void release(void* address) override;
  void upload(std::span<const std::byte> from, Buffer to) override;
  void download(Buffer from, std::span<std::byte> to) override;
  void synchronize() override;

  void copy(Buffer from, Buffer to) override;
  void fill(Buffer x, double value) override;
  void fill_normal(Buffer x, const Key& key) override;
  void reduce(ReduceOp op, Buffer x, Buffer y) override;
  void weighted_sum(std::span<const Buffer> x, std::span<const float> weights, Buffer y) override;
  void convert(Buffer x, Buffer y) override;
  void dot(Buffer x, Buffer y, Buffer result) override;

  void gemm(const GemmShape& shape, Buffer a, Buffer b, Buffer c) override;
  void norms(Lines lines, Buffer matrix, Buffer norms) override;
  void orthonormalise(std::span<const TallMatrix> matrices) override;

 private:
  void report_fault();

  cudaStream_t stream_;
  int multiprocessors_ = 0;
  mutable std::map<std::pair<const void*, unsigned>, std::int64_t> resident_blocks_;  ///< those asked for so far
  int* fault_ = nullptr;  ///< pinned, so that kernels write it and the host reads it
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
  std::unique_ptr<cuda::Staging> staging_;
  std::unique_ptr<cuda::Cublas>
      cublas_;  ///< where the machine has the library; it waits for the whole device when it is opened
};

/// The kernels of `stream`'s lane.
std::shared_ptr<Kernels> cuda_kernels(cudaStream_t stream);

}  // namespace trigram
