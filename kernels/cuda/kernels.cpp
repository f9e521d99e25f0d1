// Makes the kernels of a stream, and keeps what they share.
#include "kernels/cuda/kernels.hpp"

#include <algorithm>
#include <limits>

#include "kernels/cuda/runtime/check.hpp"
#include "kernels/cuda/runtime/cublas.hpp"
#include "kernels/cuda/runtime/staging.hpp"

namespace trigram {
namespace {

using cuda::check;

/// Freed memory stays with the process, and is reused only where no stream must wait for another for it: such a wait
/// could tie lanes together in different orders on different ranks.
void keep_memory(int device) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
  std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything), "cudaMemPoolSetAttribute");
  int no = 0;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &no), "cudaMemPoolSetAttribute");
}

}  // namespace

CudaKernels::CudaKernels(cudaStream_t stream) : stream_(stream) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  keep_memory(device);
  check(cudaMallocHost(&fault_, sizeof *fault_), "cudaMallocHost");
  *fault_ = 0;
  staging_ = std::make_unique<cuda::Staging>(stream);
  cublas_ = cuda::Cublas::open(stream);
}

CudaKernels::~CudaKernels() {
  static_cast<void>(cudaStreamSynchronize(stream_));
  release(scratch_);
  static_cast<void>(cudaFreeHost(fault_));
}

std::int64_t CudaKernels::resident_blocks(const void* kernel, unsigned threads) const {
  const auto [known, is_new] = resident_blocks_.try_emplace({kernel, threads}, 0);
  if (is_new) {
    int each = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, static_cast<int>(threads), 0),
          "asking how many blocks of a kernel a multiprocessor holds");
    known->second = static_cast<std::int64_t>(std::max(each, 1)) * multiprocessors_;
  }
  return known->second;
}

void* CudaKernels::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    release(scratch_);
    scratch_ = nullptr;
    scratch_bytes_ = 0;
    check(cudaMallocAsync(&scratch_, bytes, stream_), "cudaMallocAsync");
    scratch_bytes_ = bytes;
  }
  return scratch_;
}

std::shared_ptr<Kernels> cuda_kernels(cudaStream_t stream) { return std::make_shared<CudaKernels>(stream); }

}  // namespace trigram
