// Max pooling on host memory.
#include "kernels/operations/max_pool.hpp"

#include <cmath>
#include <cstring>

#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

/// Where the largest pixel of the window is whose first pixel is `first`.
std::int64_t largest_of(const Pooling& made, const float* plane, std::int64_t first) {
  std::int64_t largest = first;
  for (std::int64_t r = 0; r < made.size; ++r) {
    for (std::int64_t at = first + r * made.width; at < first + r * made.width + made.size; ++at) {
      if (plane[at] > plane[largest] || std::isnan(plane[at])) largest = at;
    }
  }
  return largest;
}

class MaxPool final : public MaxPoolModel {
 public:
  using MaxPoolModel::MaxPoolModel;

 private:
  void compute(Kernels&, const TensorShapes& inputs, const OperationForward& memory) const override {
    const Pooling made = of(inputs);
    const float* plane = memory.inputs[0].data<float>();
    float* to = memory.outputs[0].data<float>();
    auto* place = memory.saved[0].data<std::int32_t>();
    for (std::int64_t p = 0; p < made.planes; ++p, plane += made.height * made.width) {
      for (std::int64_t i = 0; i < made.out_height(); ++i) {
        for (std::int64_t j = 0; j < made.out_width(); ++j) {
          const std::int64_t largest = largest_of(made, plane, (i * made.width + j) * made.stride);
          *to++ = plane[largest];
          *place++ = static_cast<std::int32_t>(largest);
        }
      }
    }
  }

  void differentiate(Kernels&, const TensorShapes& inputs, const OperationBackward& memory) const override {
    const Pooling made = of(inputs);
    const Buffer below = memory.input_gradients[0];
    float* plane = below.data<float>();
    std::memset(plane, 0, static_cast<std::size_t>(below.bytes()));
    const float* above = memory.output_gradients[0].data<float>();
    const auto* place = memory.saved[0].data<std::int32_t>();
    const std::int64_t windows = made.out_height() * made.out_width();
    for (std::int64_t p = 0; p < made.planes; ++p, plane += made.height * made.width) {
      for (std::int64_t i = 0; i < windows; ++i) plane[*place++] += *above++;
    }
  }
};

const Operations::Registration registration("cpu/max_pool", MaxPoolModel::description(),
                                            [](Params& params) { return std::make_unique<MaxPool>(params); });

}  // namespace
}  // namespace trigram
