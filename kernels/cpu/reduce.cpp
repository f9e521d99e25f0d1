// How two vectors become one, and how a vector becomes a number.
#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/tree_sum.hpp"
#include "kernels/element_types.hpp"

namespace trigram {
namespace {

/// y[i] = op(y[i], x[i]), where op works on T itself for numbers and on f32 for f16 and bf16.
template <class T, class Op>
void combine(Instructions instructions, const T* x, T* y, std::int64_t count, const Op& op) {
  vectorised(instructions, [x, y, count, &op]() TRIGRAM_INLINE {
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_arithmetic_v<T>) {
        y[i] = op(y[i], x[i]);
      } else {
        scalar::store(op(scalar::to_f32(y[i]), scalar::to_f32(x[i])), y[i]);
      }
    }
  });
}

}  // namespace

void CpuKernels::reduce(ReduceOp op, Buffer x, Buffer y) {
  with_any(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto run = [&](const auto& rule) { combine(instructions_, x.data<T>(), y.data<T>(), y.count(), rule); };
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::mean:
        return run([](auto a, auto b) TRIGRAM_INLINE { return scalar::wrapped_sum(a, b); });
      case ReduceOp::min:
        return run([](auto a, auto b) TRIGRAM_INLINE { return scalar::smaller(a, b); });
      case ReduceOp::max:
        return run([](auto a, auto b) TRIGRAM_INLINE { return scalar::larger(a, b); });
    }
  });
}

void CpuKernels::dot(Buffer x, Buffer y, Buffer result) {
  const float* left = x.data<float>();
  const float* right = y.data<float>();
  double sum = 0.0;
  vectorised(instructions_, [left, right, &sum, count = x.count()]() TRIGRAM_INLINE {
    sum = tree_sum(count, [left, right](std::int64_t i)
                              TRIGRAM_INLINE { return static_cast<double>(left[i]) * static_cast<double>(right[i]); });
  });
  *result.data<float>() = static_cast<float>(sum);
}

}  // namespace trigram
