// Products, quotients and roots, element by element or by one element for all; f16 and bf16 compute in f32 and round
// once. Divisions and roots are rounded as IEEE 754 says, which the compiler does unless it is told to be fast.
#include "kernels/cuda/groups.hpp"
#include "kernels/element_types.hpp"

namespace trigram {
namespace cuda {
namespace {

using scalar::store;
using scalar::to_f32;

struct Product {
  __device__ __forceinline__ float operator()(float a, float b) const { return a * b; }
};
struct Quotient {
  __device__ __forceinline__ float operator()(float a, float b) const { return b / a; }
};

/// y = combine(x, y).
template <class T, class Combine>
struct Pairwise {
  static constexpr int width = Pack<T>::count;
  const T* x;
  T* y;
  Combine combine;

  template <int N>
  struct Held {
    T x[N], y[N];
  };
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(x + i, held.x);
    read<N>(y + i, held.y);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
#pragma unroll
    for (int j = 0; j < N; ++j) store(combine(to_f32(held.x[j]), to_f32(held.y[j])), held.y[j]);
    write<N>(held.y, y + i);
  }
};

/// y = combine(*x, y).
template <class T, class Combine>
struct ByOne {
  static constexpr int width = Pack<T>::count;
  const float* x;
  T* y;
  Combine combine;

  template <int N>
  struct Held {
    T y[N];
  };
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(y + i, held.y);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
    const float value = *x;
#pragma unroll
    for (int j = 0; j < N; ++j) store(combine(value, to_f32(held.y[j])), held.y[j]);
    write<N>(held.y, y + i);
  }
};

template <class T>
struct Root {
  static constexpr int width = Pack<T>::count;
  T* x;

  template <int N>
  struct Held {
    T x[N];
  };
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(x + i, held.x);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
#pragma unroll
    for (int j = 0; j < N; ++j) store(sqrtf(to_f32(held.x[j])), held.x[j]);
    write<N>(held.x, x + i);
  }
};

/// y = y + *a · x.
template <class T>
struct AddScaled {
  static constexpr int width = Pack<T>::count;
  const float* a;
  const T* x;
  T* y;

  template <int N>
  struct Held {
    T x[N], y[N];
  };
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(x + i, held.x);
    read<N>(y + i, held.y);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
    const float factor = *a;
#pragma unroll
    for (int j = 0; j < N; ++j) store(to_f32(held.y[j]) + factor * to_f32(held.x[j]), held.y[j]);
    write<N>(held.y, y + i);
  }
};

template <class Combine>
void pairwise(const char* name, const CudaKernels& kernels, Buffer x, Buffer y, Combine combine) {
  with_floating(y.dtype(), [&]<class T>(std::type_identity<T>) {
    T* to = y.data<T>();
    if (x.count() == 1 && x.dtype() == DType::f32) {
      run_over(name, kernels, ByOne<T, Combine>{x.data<float>(), to, combine}, y.count(), all_wide(to));
    } else {
      const T* from = x.data<T>();
      run_over(name, kernels, Pairwise<T, Combine>{from, to, combine}, y.count(), all_wide(from, to));
    }
  });
}

}  // namespace
}  // namespace cuda

void CudaKernels::multiply(Buffer x, Buffer y) { cuda::pairwise("multiply", *this, x, y, cuda::Product{}); }

void CudaKernels::divide(Buffer x, Buffer y) { cuda::pairwise("divide", *this, x, y, cuda::Quotient{}); }

void CudaKernels::root(Buffer x) {
  with_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    T* values = x.data<T>();
    cuda::run_over("root", *this, cuda::Root<T>{values}, x.count(), cuda::all_wide(values));
  });
}

void CudaKernels::add_scaled(Buffer a, Buffer x, Buffer y) {
  with_floating(y.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* from = x.data<T>();
    T* to = y.data<T>();
    cuda::run_over("add_scaled", *this, cuda::AddScaled<T>{a.data<float>(), from, to}, y.count(),
                   cuda::all_wide(from, to));
  });
}

}  // namespace trigram
