// Causal self-attention of several heads (Vaswani et al., NeurIPS 2017, arXiv:1706.03762). A row of `projected`
// [sequences, tokens, 3·width] holds the query, the key and the value of a token side by side; of each, head h has the
// columns from h·d to (h + 1)·d, d = width/heads. In every sequence and head, token i looks at j ≤ i:
//   weight_ij = softmax over j of q_i·k_j/√d,  y_i = Σ over j of weight_ij·v_j
//   ∂v_j = Σ over i ≥ j of weight_ij·∂y_i,  s_ij = weight_ij·(∂y_i·v_j − Σ over j of weight_ij·∂y_i·v_j)/√d,
//   ∂q_i = Σ over j of s_ij·k_j,  ∂k_j = Σ over i ≥ j of s_ij·q_i
// Sums are f32 in the order of the index, but for those of a row's exponentials and of weight_ij·∂y_i·v_j, f64. A NaN
// among the scores of a row makes the row NaN.
#pragma once

#include <cmath>

#include "core/step/operation.hpp"

namespace trigram {

/// Lengths of one attention.
struct AttentionHeads {
  std::int64_t sequences = 0, tokens = 0, heads = 1, size = 1;

  std::int64_t width() const { return heads * size; }
  std::int64_t rows() const { return sequences * heads * tokens; }  ///< of weights, `tokens` each
  float scale() const { return static_cast<float>(1 / std::sqrt(static_cast<double>(size))); }
};

/// Parameters, shapes and work. Weights [sequences, heads, tokens, tokens] are saved, 0 where j > i.
class CausalAttentionModel : public Operation {
 public:
  explicit CausalAttentionModel(Params& params)
      : heads_(params.get("heads", std::int64_t{1}, "parts of the width, each with weights of its own", {1, 1 << 20})) {
  }
  static Description description() {
    return {"softmax of q·k/√d over a token and those before it, times v, by heads",
            "Vaswani et al., Attention is all you need, NeurIPS 2017, arXiv:1706.03762"};
  }

  std::vector<OperationInput> inputs() const override { return {{"projected"}}; }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    const Dimensions& projected = inputs[0].dimensions;
    require(inputs[0].dtype == DType::f32, "projected rows must be f32");
    require(projected.size() == 3 && projected[2] > 0 && projected[2] % 3 == 0,
            "projected must be [sequences, tokens, 3·width]: query, key and value of a token");
    const std::int64_t width = projected[2] / 3;
    require(width % heads_ == 0, "a width of ", width, " cannot be cut into ", heads_, " heads");
    const TensorShape weights{{projected[0], heads_, projected[1], projected[1]}};
    return {.outputs = {{{projected[0], projected[1], width}}}, .saved = {weights}, .scratch = weights.count()};
  }

  /// That of a fused kernel, which keeps no weights.
  OperationWork work(const TensorShapes& inputs) const override {
    const TensorShape out = shapes(inputs).outputs[0];
    const double pairs = static_cast<double>(out.count()) * static_cast<double>(inputs[0].dimensions[1] + 1) / 2;
    const double moved = inputs[0].bytes() + out.bytes();
    return {{4 * pairs, moved}, {{8 * pairs, 2 * moved}}};
  }
  std::vector<TensorShapes> trials() const override {
    return {{{{2, 5, 36}}}, {{{1, 1, 36}}}, {{{1, 35, 36}}}, {{{1, 3, 144}}}, {{{0, 4, 36}}}, {{{2, 0, 36}}}};
  }

 protected:
  AttentionHeads of(const TensorShapes& inputs) const {
    const Dimensions& projected = inputs[0].dimensions;
    return {projected[0], projected[1], heads_, projected[2] / 3 / heads_};
  }

 private:
  std::int64_t heads_;
};

}  // namespace trigram
