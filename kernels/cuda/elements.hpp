// Rules over elements for run_over: one vector changed, or two combined, in f32 and rounded once; whole numbers are
// changed as they are. What is done to an element is a functor; one that has `prepared()` reads there, once a thread,
// what lies on the device.
#pragma once

#include "kernels/cuda/groups.hpp"
#include "kernels/element_types.hpp"

namespace trigram::cuda {

template <class T, class Change>
__device__ __forceinline__ void change_one(const Change& change, T& x) {
  if constexpr (std::is_integral_v<T>) {
    x = static_cast<T>(change(x));
  } else {
    scalar::store(change(scalar::to_f32(x)), x);
  }
}

/// x = change(x).
template <class T, class Change>
struct Each {
  static constexpr int width = Pack<T>::count;
  T* x;
  Change change;

  template <int N>
  struct Held {
    T x[N];
  };
  __device__ auto prepared() const {
    const auto ready = cuda::prepared(change);
    return Each<T, std::remove_const_t<decltype(ready)>>{x, ready};
  }
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(x + i, held.x);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
#pragma unroll
    for (int j = 0; j < N; ++j) change_one(change, held.x[j]);
    write<N>(held.x, x + i);
  }
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
  __device__ auto prepared() const {
    const auto ready = cuda::prepared(combine);
    return Pairwise<T, std::remove_const_t<decltype(ready)>>{x, y, ready};
  }
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(x + i, held.x);
    read<N>(y + i, held.y);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
#pragma unroll
    for (int j = 0; j < N; ++j) scalar::store(combine(scalar::to_f32(held.x[j]), scalar::to_f32(held.y[j])), held.y[j]);
    write<N>(held.y, y + i);
  }
};

/// x = change(x), of elements T.
template <class T, class Change>
void change_each_of(const char* operation, const CudaKernels& kernels, Buffer x, Change change) {
  T* values = x.data<T>();
  run_over(operation, kernels, Each<T, Change>{values, change}, x.count(), all_wide(values));
}
/// x = change(x), of f32, f16 or bf16.
template <class Change>
void change_each(const char* operation, const CudaKernels& kernels, Buffer x, Change change) {
  with_floating(x.dtype(), [&]<class T>(std::type_identity<T>) { change_each_of<T>(operation, kernels, x, change); });
}

/// y = combine(x, y), of elements T.
template <class T, class Combine>
void combine_pairs_of(const char* operation, const CudaKernels& kernels, Buffer x, Buffer y, Combine combine) {
  const T* from = x.data<T>();
  T* to = y.data<T>();
  run_over(operation, kernels, Pairwise<T, Combine>{from, to, combine}, y.count(), all_wide(from, to));
}
/// y = combine(x, y), of f32, f16 or bf16.
template <class Combine>
void combine_pairs(const char* operation, const CudaKernels& kernels, Buffer x, Buffer y, Combine combine) {
  with_floating(y.dtype(),
                [&]<class T>(std::type_identity<T>) { combine_pairs_of<T>(operation, kernels, x, y, combine); });
}

}  // namespace trigram::cuda
