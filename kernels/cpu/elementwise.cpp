// Operations on each element by itself; f16 and bf16 compute in f32 and round once.
#include <algorithm>
#include <array>

#include "kernels/cpu/kernels.hpp"
#include "kernels/element_types.hpp"

namespace trigram {

using scalar::store;
using scalar::to_f32;

void CpuKernels::fill(Buffer x, double value) {
  with_any(x.dtype(), [&]<class T>(std::type_identity<T>) {
    T element;
    if constexpr (std::is_arithmetic_v<T>) {
      element = static_cast<T>(value);
    } else {
      store(static_cast<float>(value), element);
    }
    std::fill_n(x.data<T>(), x.count(), element);
  });
}

void CpuKernels::weighted_sum(std::span<const Buffer> x, std::span<const float> weights, Buffer y) {
  constexpr std::int64_t block = 1024;
  with_floating(y.dtype(), [&]<class T>(std::type_identity<T>) {
    T* to = y.data<T>();
    std::array<float, block> sums;
    for (std::int64_t begin = 0; begin < y.count(); begin += block) {
      const std::int64_t count = std::min(block, y.count() - begin);
      sums.fill(0.0F);
      for (std::size_t j = 0; j < x.size(); ++j) {
        const T* from = x[j].data<T>() + begin;
        vectorised(instructions_,
                   [from, count, first = j == 0, weight = weights[j], sum = sums.data()]() TRIGRAM_INLINE {
                     for (std::int64_t i = 0; i < count; ++i) {
                       const float term = weight * to_f32(from[i]);
                       sum[i] = first ? term : sum[i] + term;
                     }
                   });
      }
      vectorised(instructions_, [count, to = to + begin, sum = sums.data()]() TRIGRAM_INLINE {
        for (std::int64_t i = 0; i < count; ++i) store(sum[i], to[i]);
      });
    }
  });
}

void CpuKernels::convert(Buffer x, Buffer y) {
  with_floating(x.dtype(), [&]<class From>(std::type_identity<From>) {
    with_floating(y.dtype(), [&]<class To>(std::type_identity<To>) {
      const From* from = x.data<From>();
      To* to = y.data<To>();
      vectorised(instructions_, [from, to, count = y.count()]() TRIGRAM_INLINE {
        for (std::int64_t i = 0; i < count; ++i) store(to_f32(from[i]), to[i]);
      });
    });
  });
}

}  // namespace trigram
