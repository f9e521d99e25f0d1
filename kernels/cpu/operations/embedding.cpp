// Embedding on host memory.
#include "kernels/operations/embedding.hpp"

#include <cstring>

#include "core/values/error.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/operations/index.hpp"

namespace trigram {
namespace {

class Embedding final : public EmbeddingModel {
  void compute(Kernels&, const TensorShapes& inputs, const OperationForward& memory) const override {
    const std::int64_t width = inputs[0].dimensions[1];
    const float* table = memory.inputs[0].data<float>();
    float* rows = memory.outputs[0].data<float>();
    for (std::int64_t i = 0; i < memory.inputs[1].count(); ++i) {
      const float* row = table + place(inputs, memory.inputs[1], i) * width;
      std::memcpy(rows + i * width, row, static_cast<std::size_t>(width) * sizeof(float));
    }
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    const std::int64_t width = inputs[0].dimensions[1];
    const float* above = memory.output_gradients[0].data<float>();
    float* sums = memory.input_gradients[0].data<float>();
    std::memset(sums, 0, static_cast<std::size_t>(memory.input_gradients[0].bytes()));
    for (std::int64_t i = 0; i < memory.inputs[1].count(); ++i) {
      const float* from = above + i * width;
      float* to = sums + place(inputs, memory.inputs[1], i) * width;
      vectorised(instructions_of(kernels), [=]() TRIGRAM_INLINE {
        for (std::int64_t j = 0; j < width; ++j) to[j] += from[j];
      });
    }
  }

  static std::int64_t place(const TensorShapes& inputs, const Buffer& positions, std::int64_t i) {
    const std::int64_t known = inputs[0].dimensions[0], position = index_at(positions, i);
    ensure(position >= 0 && position < known, "embedding: position ", position, " at ", i, " leaves a table of ", known,
           " rows");
    return position;
  }
};

const Operations::Registration registration("cpu/embedding", EmbeddingModel::description(),
                                            [](Params&) { return std::make_unique<Embedding>(); });

}  // namespace
}  // namespace trigram
