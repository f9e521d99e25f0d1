// Causal self-attention on host memory: every sequence and head by itself, its keys and values turned so that all inner
// loops run over elements that lie side by side.
#include "kernels/operations/causal_attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

/// Rows of one sequence and head in memory where rows of all heads stand side by side.
template <class T>
struct HeadRows {
  T* first;
  std::int64_t stride;
  T* operator[](std::int64_t row) const { return first + row * stride; }
};

/// sums[j] = Σ over r, ascending, of factors[r]·rows[r][j].
void combine(Instructions instructions, const float* factors, HeadRows<const float> rows, std::int64_t count,
             std::int64_t length, float* sums) {
  vectorised(instructions, [=]() TRIGRAM_INLINE {
    for (std::int64_t j = 0; j < length; ++j) sums[j] = 0.0F;
    for (std::int64_t r = 0; r < count; ++r) {
      const float factor = factors[r];
      const float* row = rows.first + r * rows.stride;
      for (std::int64_t j = 0; j < length; ++j) sums[j] += factor * row[j];
    }
  });
}

/// rows[r][j] += factors[r]·row[j].
void spread(Instructions instructions, const float* factors, const float* row, std::int64_t count, std::int64_t length,
            HeadRows<float> rows) {
  vectorised(instructions, [=]() TRIGRAM_INLINE {
    for (std::int64_t r = 0; r < count; ++r) {
      const float factor = factors[r];
      float* to = rows.first + r * rows.stride;
      for (std::int64_t j = 0; j < length; ++j) to[j] += factor * row[j];
    }
  });
}

void turn(HeadRows<const float> rows, std::int64_t count, std::int64_t length, std::vector<float>& turned) {
  for (std::int64_t r = 0; r < count; ++r) {
    for (std::int64_t j = 0; j < length; ++j) turned[static_cast<std::size_t>(j * count + r)] = rows[r][j];
  }
}

/// Turns scores, times `scale`, into their softmax.
void softmax(float* scores, std::int64_t count, float scale) {
  for (std::int64_t j = 0; j < count; ++j) scores[j] *= scale;
  const float largest = *std::max_element(scores, scores + count);
  double sum = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    scores[j] = std::exp(scores[j] - largest);
    sum += static_cast<double>(scores[j]);
  }
  const auto inverse = static_cast<float>(1 / sum);
  for (std::int64_t j = 0; j < count; ++j) scores[j] *= inverse;
}

/// Turns slopes of weights into those of q·k.
void softmax_backward(const float* weights, std::int64_t count, float scale, float* slopes) {
  double along = 0;
  for (std::int64_t j = 0; j < count; ++j) along += static_cast<double>(weights[j]) * static_cast<double>(slopes[j]);
  for (std::int64_t j = 0; j < count; ++j)
    slopes[j] = weights[j] * static_cast<float>(static_cast<double>(slopes[j]) - along) * scale;
}

class CausalAttention final : public CausalAttentionModel {
 public:
  using CausalAttentionModel::CausalAttentionModel;

 private:
  /// body(first element of the projected rows, of the output's rows, first of the weights), by sequence and head.
  template <class Body>
  static void over_heads(const AttentionHeads& made, const Body& body) {
    for (std::int64_t s = 0; s < made.sequences; ++s) {
      for (std::int64_t h = 0; h < made.heads; ++h) {
        const std::int64_t row = s * made.tokens * made.width(), column = h * made.size;
        body(3 * row + column, row + column, (s * made.heads + h) * made.tokens * made.tokens);
      }
    }
  }

  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    const AttentionHeads made = of(inputs);
    const Instructions instructions = instructions_of(kernels);
    const std::int64_t tokens = made.tokens, size = made.size, width = made.width();
    std::vector<float> turned_keys(static_cast<std::size_t>(tokens * size));
    over_heads(made, [&](std::int64_t projected, std::int64_t out, std::int64_t weights) {
      const float* queries = memory.inputs[0].data<float>() + projected;
      const HeadRows<const float> keys{queries + width, 3 * width}, values{queries + 2 * width, 3 * width};
      turn(keys, tokens, size, turned_keys);
      for (std::int64_t i = 0; i < tokens; ++i) {
        float* row = memory.saved[0].data<float>() + weights + i * tokens;
        combine(instructions, queries + i * 3 * width, {turned_keys.data(), tokens}, size, i + 1, row);
        softmax(row, i + 1, made.scale());
        std::fill(row + i + 1, row + tokens, 0.0F);
        combine(instructions, row, values, i + 1, size, memory.outputs[0].data<float>() + out + i * width);
      }
    });
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    const AttentionHeads made = of(inputs);
    const Instructions instructions = instructions_of(kernels);
    const std::int64_t tokens = made.tokens, size = made.size, width = made.width(), stride = 3 * width;
    std::vector<float> turned_values(static_cast<std::size_t>(tokens * size));
    std::memset(memory.input_gradients[0].raw(), 0, static_cast<std::size_t>(memory.input_gradients[0].bytes()));
    over_heads(made, [&](std::int64_t projected, std::int64_t out, std::int64_t first) {
      const float* queries = memory.inputs[0].data<float>() + projected;
      float* below = memory.input_gradients[0].data<float>() + projected;
      turn({queries + 2 * width, stride}, tokens, size, turned_values);
      for (std::int64_t i = 0; i < tokens; ++i) {
        const float* weights = memory.saved[0].data<float>() + first + i * tokens;
        const float* above = memory.output_gradients[0].data<float>() + out + i * width;
        float* slopes = memory.scratch.data<float>() + first + i * tokens;
        spread(instructions, weights, above, i + 1, size, {below + 2 * width, stride});
        combine(instructions, above, {turned_values.data(), tokens}, size, i + 1, slopes);
        softmax_backward(weights, i + 1, made.scale(), slopes);
        combine(instructions, slopes, {queries + width, stride}, i + 1, size, below + i * stride);
        spread(instructions, slopes, queries + i * stride, i + 1, size, {below + width, stride});
      }
    });
  }
};

const Operations::Registration registration("cpu/causal_attention", CausalAttentionModel::description(),
                                            [](Params& params) { return std::make_unique<CausalAttention>(params); });

}  // namespace
}  // namespace trigram
