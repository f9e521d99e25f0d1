// Products, quotients and roots, element by element or by one element for all; f16 and bf16 compute in f32 and round
// once.
#include <cmath>

#include "kernels/cpu/kernels.hpp"
#include "kernels/element_types.hpp"

namespace trigram {
namespace {

using scalar::store;
using scalar::to_f32;

/// y[i] = combine(x[i], y[i]), where an x of one f32 stands for all.
template <class Combine>
void pairwise(Instructions instructions, Buffer x, Buffer y, Combine combine) {
  with_floating(y.dtype(), [&]<class T>(std::type_identity<T>) {
    T* to = y.data<T>();
    if (x.count() == 1 && x.dtype() == DType::f32) {
      vectorised(instructions, [value = *x.data<float>(), to, combine, count = y.count()]() TRIGRAM_INLINE {
        for (std::int64_t i = 0; i < count; ++i) store(combine(value, to_f32(to[i])), to[i]);
      });
      return;
    }
    vectorised(instructions, [from = x.data<T>(), to, combine, count = y.count()]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) store(combine(to_f32(from[i]), to_f32(to[i])), to[i]);
    });
  });
}

}  // namespace

void CpuKernels::multiply(Buffer x, Buffer y) {
  pairwise(instructions_, x, y, [](float a, float b) TRIGRAM_INLINE { return a * b; });
}

void CpuKernels::divide(Buffer x, Buffer y) {
  pairwise(instructions_, x, y, [](float a, float b) TRIGRAM_INLINE { return b / a; });
}

void CpuKernels::root(Buffer x) {
  with_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    vectorised(instructions_, [values = x.data<T>(), count = x.count()]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) store(std::sqrt(to_f32(values[i])), values[i]);
    });
  });
}

void CpuKernels::add_scaled(Buffer a, Buffer x, Buffer y) {
  pairwise(instructions_, x, y,
           [factor = *a.data<float>()](float u, float v) TRIGRAM_INLINE { return v + factor * u; });
}

}  // namespace trigram
