// How two vectors become one.
#include "kernels/cuda/groups.hpp"
#include "kernels/element_types.hpp"

namespace trigram {
namespace cuda {
namespace {

struct Sum {
  template <class T>
  static __device__ __forceinline__ T of(T y, T x) {
    return scalar::wrapped_sum(y, x);
  }
};
struct Smaller {
  template <class T>
  static __device__ __forceinline__ T of(T y, T x) {
    return scalar::smaller(y, x);
  }
};
struct Larger {
  template <class T>
  static __device__ __forceinline__ T of(T y, T x) {
    return scalar::larger(y, x);
  }
};

template <class T, class Op>
__device__ __forceinline__ void combine(T x, T& y) {
  if constexpr (std::is_arithmetic_v<T>) {
    y = Op::of(y, x);
  } else {
    scalar::store(Op::of(scalar::to_f32(y), scalar::to_f32(x)), y);
  }
}

/// y[i] = Op(y[i], x[i]), on T itself for numbers and on f32 for f16 and bf16.
template <class T, class Op>
struct Reduce {
  static constexpr int width = Pack<T>::count;
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
#pragma unroll
    for (int j = 0; j < N; ++j) combine<T, Op>(held.x[j], held.y[j]);
    write<N>(held.y, y + i);
  }
};

template <class T, class Op>
void run(const CudaKernels& kernels, const Buffer& x, const Buffer& y) {
  const T* from = x.data<T>();
  T* to = y.data<T>();
  run_over("reduce", kernels, Reduce<T, Op>{from, to}, y.count(), all_wide(from, to));
}

}  // namespace
}  // namespace cuda

void CudaKernels::reduce(ReduceOp op, Buffer x, Buffer y) {
  with_any(x.dtype(), [&]<class T>(std::type_identity<T>) {
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::mean:
        return cuda::run<T, cuda::Sum>(*this, x, y);
      case ReduceOp::min:
        return cuda::run<T, cuda::Smaller>(*this, x, y);
      case ReduceOp::max:
        return cuda::run<T, cuda::Larger>(*this, x, y);
    }
  });
}

}  // namespace trigram
