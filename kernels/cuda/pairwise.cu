// Products, quotients and roots, element by element or by one element for all; f16 and bf16 compute in f32 and round
// once. Divisions and roots are rounded as IEEE 754 says, which the compiler does unless it is told to be fast.
#include "kernels/cuda/elements.hpp"

namespace trigram {
namespace cuda {
namespace {

struct Product {
  __device__ __forceinline__ float operator()(float a, float b) const { return a * b; }
};
struct Quotient {
  __device__ __forceinline__ float operator()(float a, float b) const { return b / a; }
};
struct SquareRoot {
  __device__ __forceinline__ float operator()(float x) const { return sqrtf(x); }
};

/// combine(value, y).
template <class Combine>
struct WithOne {
  float value;
  Combine combine;
  __device__ __forceinline__ float operator()(float y) const { return combine(value, y); }
};
template <class Combine>
struct WithOneAt {
  const float* value;
  Combine combine;
  __device__ WithOne<Combine> prepared() const { return {*value, combine}; }
};

/// y + a · x.
struct PlusScaled {
  float a;
  __device__ __forceinline__ float operator()(float x, float y) const { return y + a * x; }
};
struct PlusScaledByOneAt {
  const float* a;
  __device__ PlusScaled prepared() const { return {*a}; }
};

template <class Combine>
void combine(const char* operation, const CudaKernels& kernels, Buffer x, Buffer y) {
  if (x.count() == 1 && x.dtype() == DType::f32) {
    change_each(operation, kernels, y, WithOneAt<Combine>{x.data<float>(), {}});
  } else {
    combine_pairs(operation, kernels, x, y, Combine{});
  }
}

}  // namespace
}  // namespace cuda

void CudaKernels::multiply(Buffer x, Buffer y) { cuda::combine<cuda::Product>("multiply", *this, x, y); }

void CudaKernels::divide(Buffer x, Buffer y) { cuda::combine<cuda::Quotient>("divide", *this, x, y); }

void CudaKernels::root(Buffer x) { cuda::change_each("root", *this, x, cuda::SquareRoot{}); }

void CudaKernels::add_scaled(Buffer a, Buffer x, Buffer y) {
  cuda::combine_pairs("add_scaled", *this, x, y, cuda::PlusScaledByOneAt{a.data<float>()});
}

}  // namespace trigram
