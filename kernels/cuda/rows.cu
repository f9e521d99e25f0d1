// Layers of small models: biases, activations, and rows of a table.
#include "kernels/cuda/elements.hpp"
#include "kernels/cuda/fault.hpp"
#include "kernels/cuda/index.hpp"

namespace trigram {
namespace cuda {
namespace {

/// A NaN stays.
struct Rectified {
  __device__ __forceinline__ float operator()(float x) const { return x < 0.0F ? 0.0F : x; }
};

struct WhereActive {
  __device__ __forceinline__ float operator()(float activated, float gradient) const {
    return activated == 0.0F ? 0.0F : gradient;
  }
};

__global__ void __launch_bounds__(block_threads)
    add_bias_rows(const float* bias, std::int64_t columns, float* rows, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    rows[i] += bias[i % columns];
  }
}

/// A thread a column, rows in order: f32 sums as on the host.
__global__ void __launch_bounds__(block_threads)
    add_columns(const float* rows, std::int64_t count, std::int64_t columns, float* sums) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; column < columns;
       column += stride) {
    float sum = 0.0F;
#pragma unroll 8
    for (std::int64_t i = column; i < count; i += columns) sum += rows[i];
    sums[column] = sum;
  }
}

/// Copies rows in units of T; an index that leaves the table leaves its row as it was.
template <class T>
__global__ void __launch_bounds__(block_threads)
    copy_rows(const T* table, std::int64_t known, Indices indices, T* rows, std::int64_t a_row, int* fault) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < indices.count * a_row;
       i += stride) {
    const std::int64_t row = i / a_row;
    const std::int64_t index = indices[row];
    if (index < 0 || index >= known) {
      raise_fault(fault, row_out_of_range);
    } else {
      rows[i] = table[index * a_row + i % a_row];
    }
  }
}

template <class T>
void gather(const CudaKernels& kernels, const Buffer& table, const Indices& indices, const Buffer& rows) {
  const std::int64_t a_row = rows.bytes() / indices.count / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t known = table.bytes() / static_cast<std::int64_t>(sizeof(T)) / a_row;
  launch("gather_rows", kernels, copy_rows<T>, blocks_for(kernels, a_row * indices.count, block_threads), block_threads,
         static_cast<const T*>(table.raw()), known, indices, static_cast<T*>(rows.raw()), a_row, kernels.fault());
}

}  // namespace
}  // namespace cuda

void CudaKernels::add_bias(Buffer bias, Buffer rows) {
  cuda::launch("add_bias", *this, cuda::add_bias_rows, cuda::blocks_for(*this, rows.count(), cuda::block_threads),
               cuda::block_threads, bias.data<float>(), bias.count(), rows.data<float>(), rows.count());
}

void CudaKernels::column_sums(Buffer rows, Buffer sums) {
  if (sums.count() == 0) return;
  constexpr unsigned threads = 64;  // few columns: many small blocks
  cuda::launch("column_sums", *this, cuda::add_columns, cuda::blocks_for(*this, sums.count(), threads), threads,
               rows.data<float>(), rows.count(), sums.count(), sums.data<float>());
}

void CudaKernels::relu(Buffer x) {
  float* values = x.data<float>();
  cuda::run_over("relu", *this, cuda::Each<float, cuda::Rectified>{values, {}}, x.count(), cuda::all_wide(values));
}

void CudaKernels::relu_backward(Buffer activated, Buffer gradient) {
  const float* outputs = activated.data<float>();
  float* values = gradient.data<float>();
  cuda::run_over("relu_backward", *this, cuda::Pairwise<float, cuda::WhereActive>{outputs, values, {}},
                 gradient.count(), cuda::all_wide(outputs, values));
}

void CudaKernels::gather_rows(Buffer table, Buffer indices, Buffer rows) {
  const std::int64_t a_row = rows.bytes() / indices.count();
  const bool wide = a_row % 16 == 0 && cuda::all_wide(static_cast<char*>(table.raw()), static_cast<char*>(rows.raw()));
  const cuda::Indices which(indices);
  if (wide) return cuda::gather<uint4>(*this, table, which, rows);
  if (size_of(rows.dtype()) % 4 == 0) return cuda::gather<std::uint32_t>(*this, table, which, rows);
  if (size_of(rows.dtype()) == 2) return cuda::gather<std::uint16_t>(*this, table, which, rows);
  cuda::gather<std::uint8_t>(*this, table, which, rows);
}

}  // namespace trigram
