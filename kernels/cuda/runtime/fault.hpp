// What kernels find wrong in data, told to the host at its next wait.
#pragma once

#include <cuda_runtime.h>

namespace trigram::cuda {

/// One word in pinned memory: the last fault written is the one reported.
enum Fault : int { no_fault, label_out_of_range, row_out_of_range, foreign_top_k_frame, foreign_chunk_top_k_frame };

/// `fault` is CudaKernels::fault().
__device__ __forceinline__ void raise_fault(int* fault, Fault which) { *static_cast<volatile int*>(fault) = which; }

}  // namespace trigram::cuda
