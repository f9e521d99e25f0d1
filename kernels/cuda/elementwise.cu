// What memory is filled with, and elements in another type.
#include "kernels/cuda/groups.hpp"
#include "kernels/element_types.hpp"

namespace trigram {
namespace cuda {
namespace {

using scalar::store;
using scalar::to_f32;

template <class Bits>
struct Fill {
  static constexpr int width = Pack<Bits>::count;
  Bits* x;
  Bits value;

  template <int N>
  struct Held {};
  template <int N>
  __device__ void load(std::int64_t, Held<N>&) const {}
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>&) const {
    Bits values[N];
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = value;
    write<N>(values, x + i);
  }
};

template <class From, class To>
struct Convert {
  static constexpr int width = 16 / static_cast<int>(sizeof(From) < sizeof(To) ? sizeof(From) : sizeof(To));
  const From* x;
  To* y;

  template <int N>
  struct Held {
    From x[N];
  };
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(x + i, held.x);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
    To values[N];
#pragma unroll
    for (int j = 0; j < N; ++j) store(to_f32(held.x[j]), values[j]);
    write<N>(values, y + i);
  }
};

template <class Bits>
void fill_bits(const CudaKernels& kernels, void* address, Bits value, std::int64_t count) {
  auto* x = static_cast<Bits*>(address);
  run_over("fill", kernels, Fill<Bits>{x, value}, count, all_wide(x));
}

}  // namespace
}  // namespace cuda

void CudaKernels::fill(Buffer x, double value) {
  with_any(x.dtype(), [&]<class T>(std::type_identity<T>) {
    using Bits =
        std::conditional_t<sizeof(T) == 1, std::uint8_t,
                           std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                              std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
    T element;
    if constexpr (std::is_arithmetic_v<T>) {
      element = static_cast<T>(value);
    } else {
      scalar::store(static_cast<float>(value), element);
    }
    cuda::fill_bits(*this, x.raw(), std::bit_cast<Bits>(element), x.count());
  });
}

void CudaKernels::convert(Buffer x, Buffer y) {
  with_floating(x.dtype(), [&]<class From>(std::type_identity<From>) {
    with_floating(y.dtype(), [&]<class To>(std::type_identity<To>) {
      const From* from = x.data<From>();
      To* to = y.data<To>();
      cuda::run_over("convert", *this, cuda::Convert<From, To>{from, to}, y.count(), cuda::all_wide(from, to));
    });
  });
}

}  // namespace trigram
