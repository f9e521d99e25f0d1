// Forward and backward of each layer. What passes by, x, becomes x + f(normalised x).
#include "experiments/workloads/networks/decoder_layers.hpp"

namespace trigram {
namespace {

OwnedBuffer room_for(Device& device, const TensorShape& shape) {
  return device.allocate(Shape::of(shape.count(), shape.dtype));
}

/// rows·weight + bias.
class Linear {
 public:
  Linear(const Device& device, std::int64_t rows, std::int64_t in, std::int64_t out)
      : rows_(rows), in_(in), out_(out), bias_(device, "bias", {{{rows, out}}, {{out}}}) {}

  void forward(Device& device, Buffer x, std::span<const Buffer> weight_and_bias, Buffer y) const {
    device.gemm({.m = rows_, .n = out_, .k = in_}, x, weight_and_bias[0], y);
    bias_.forward(device, {.inputs = {y, weight_and_bias[1]}, .outputs = {y}});
  }
  /// dW = xᵀ·dy, db = Σ rows of dy, dx = dy·Wᵀ.
  void backward(Device& device, Buffer x, Buffer y, Buffer above, std::span<const ParameterView> own,
                Buffer below) const {
    device.gemm({.m = in_, .n = out_, .k = rows_, .transpose_a = true}, x, above, own[0].gradients);
    bias_.backward(device, {.inputs = {y, own[1].weights},
                            .outputs = {y},
                            .output_gradients = {above},
                            .input_gradients = {{}, own[1].gradients}});
    device.gemm({.m = rows_, .n = in_, .k = out_, .transpose_b = true}, above, own[0].weights, below);
  }

 private:
  std::int64_t rows_, in_, out_;
  AppliedOperation bias_;
};

/// What every layer but the embedding begins with.
class Normalisation {
 public:
  Normalisation(Device& device, const DecoderSizes& sizes, std::int64_t rows)
      : norm_(device, "layer_norm", {{{rows, sizes.width}}, {{sizes.width}}, {{sizes.width}}}),
        out_(room_for(device, norm_.outputs()[0])),
        means_(room_for(device, norm_.saved()[0])),
        scales_(room_for(device, norm_.saved()[1])) {}

  const Buffer& out() const { return out_.view(); }
  void forward(Device& device, Buffer x, std::span<const Buffer> gain_and_shift) const {
    norm_.forward(device, {{x, gain_and_shift[0], gain_and_shift[1]}, {out_}, {means_, scales_}});
  }
  void backward(Device& device, Buffer x, std::span<const ParameterView> own, Buffer above, Buffer below) const {
    norm_.backward(device, {.inputs = {x, own[0].weights, own[1].weights},
                            .outputs = {out_},
                            .saved = {means_, scales_},
                            .output_gradients = {above},
                            .input_gradients = {below, own[0].gradients, own[1].gradients}});
  }

 private:
  AppliedOperation norm_;
  OwnedBuffer out_, means_, scales_;
};

/// Of each character its row of a table, plus that of its position.
class Embedding final : public DecoderLayer {
 public:
  Embedding(Device& device, const DecoderSizes& sizes, std::int64_t sequences, const DecoderRoom& room)
      : DecoderLayer(room_for(device, {{sequences, sizes.context, sizes.width}})),
        room_(room),
        table_(device, "embedding", {{{sizes.characters, sizes.width}}, {{sequences * sizes.context}, DType::i32}}),
        positions_(device, "bias", {{{sequences, sizes.context * sizes.width}}, {{sizes.context * sizes.width}}}) {}

  void forward(Device& device, std::span<const Buffer> weights, Buffer in) override {
    table_.forward(device, {.inputs = {weights[0], in}, .outputs = {out()}});
    positions_.forward(device, {.inputs = {out(), weights[1]}, .outputs = {out()}});
  }
  void backward(Device& device, std::span<const ParameterView> own, Buffer in) override {
    positions_.backward(device, {.inputs = {out(), own[1].weights},
                                 .outputs = {out()},
                                 .output_gradients = {room_.stream},
                                 .input_gradients = {{}, own[1].gradients}});
    table_.backward(device, {.inputs = {own[0].weights, in},
                             .outputs = {out()},
                             .output_gradients = {room_.stream},
                             .input_gradients = {own[0].gradients, {}}});
  }

 private:
  const DecoderRoom& room_;
  AppliedOperation table_, positions_;
};

/// x + W·attention(W·x̂ + b) + b.
class Attention final : public DecoderLayer {
 public:
  Attention(Device& device, const DecoderSizes& sizes, std::int64_t sequences, const DecoderRoom& room)
      : DecoderLayer(room_for(device, {{sequences, sizes.context, sizes.width}})),
        room_(room),
        norm_(device, sizes, sequences * sizes.context),
        project_(device, sequences * sizes.context, sizes.width, 3 * sizes.width),
        attention_(device, "causal_attention:heads=" + std::to_string(sizes.heads),
                   {{{sequences, sizes.context, 3 * sizes.width}}}),
        leave_(device, sequences * sizes.context, sizes.width, sizes.width),
        projected_(room_for(device, attention_.inputs()[0])),
        attended_(room_for(device, attention_.outputs()[0])),
        weights_(room_for(device, attention_.saved()[0])) {}

  void forward(Device& device, std::span<const Buffer> weights, Buffer in) override {
    norm_.forward(device, in, weights);
    project_.forward(device, norm_.out(), weights.subspan(2), projected_);
    attention_.forward(device, {{projected_}, {attended_}, {weights_}, room_.attention_scratch});
    leave_.forward(device, attended_, weights.subspan(4), out());
    device.axpby(1, in, 1, out());
  }
  void backward(Device& device, std::span<const ParameterView> own, Buffer in) override {
    const Buffer wide = room_.wide.view().slice(0, projected_.view().count());
    leave_.backward(device, attended_, out(), room_.stream, own.subspan(4), room_.normal);
    attention_.backward(device, {.inputs = {projected_},
                                 .outputs = {attended_},
                                 .saved = {weights_},
                                 .output_gradients = {room_.normal},
                                 .input_gradients = {wide},
                                 .scratch = room_.attention_scratch});
    project_.backward(device, norm_.out(), projected_, wide, own.subspan(2), room_.normal);
    norm_.backward(device, in, own, room_.normal, room_.below);
    device.axpby(1, room_.below, 1, room_.stream);
  }

 private:
  const DecoderRoom& room_;
  Normalisation norm_;
  Linear project_;
  AppliedOperation attention_;
  Linear leave_;
  OwnedBuffer projected_, attended_, weights_;
};

/// x + W·ReLU(W·x̂ + b) + b.
class FeedForward final : public DecoderLayer {
 public:
  FeedForward(Device& device, const DecoderSizes& sizes, std::int64_t sequences, const DecoderRoom& room)
      : DecoderLayer(room_for(device, {{sequences, sizes.context, sizes.width}})),
        room_(room),
        norm_(device, sizes, sequences * sizes.context),
        up_(device, sequences * sizes.context, sizes.width, sizes.hidden()),
        relu_(device, "relu", {{{sequences * sizes.context, sizes.hidden()}}}),
        down_(device, sequences * sizes.context, sizes.hidden(), sizes.width),
        hidden_(room_for(device, relu_.outputs()[0])) {}

  void forward(Device& device, std::span<const Buffer> weights, Buffer in) override {
    norm_.forward(device, in, weights);
    up_.forward(device, norm_.out(), weights.subspan(2), hidden_);
    relu_.forward(device, {.inputs = {hidden_}, .outputs = {hidden_}});
    down_.forward(device, hidden_, weights.subspan(4), out());
    device.axpby(1, in, 1, out());
  }
  void backward(Device& device, std::span<const ParameterView> own, Buffer in) override {
    down_.backward(device, hidden_, out(), room_.stream, own.subspan(4), room_.wide);
    relu_.backward(
        device,
        {.inputs = {hidden_}, .outputs = {hidden_}, .output_gradients = {room_.wide}, .input_gradients = {room_.wide}});
    up_.backward(device, norm_.out(), hidden_, room_.wide, own.subspan(2), room_.normal);
    norm_.backward(device, in, own, room_.normal, room_.below);
    device.axpby(1, room_.below, 1, room_.stream);
  }

 private:
  const DecoderRoom& room_;
  Normalisation norm_;
  Linear up_;
  AppliedOperation relu_;
  Linear down_;
  OwnedBuffer hidden_;
};

/// Logits of the next character: W·x̂ + b.
class Head final : public DecoderLayer {
 public:
  Head(Device& device, const DecoderSizes& sizes, std::int64_t sequences, const DecoderRoom& room)
      : DecoderLayer(room_for(device, {{sequences, sizes.context, sizes.characters}})),
        room_(room),
        norm_(device, sizes, sequences * sizes.context),
        logits_(device, sequences * sizes.context, sizes.width, sizes.characters) {}

  void forward(Device& device, std::span<const Buffer> weights, Buffer in) override {
    norm_.forward(device, in, weights);
    logits_.forward(device, norm_.out(), weights.subspan(2), out());
  }
  void backward(Device& device, std::span<const ParameterView> own, Buffer in) override {
    logits_.backward(device, norm_.out(), out(), out(), own.subspan(2), room_.normal);
    norm_.backward(device, in, own, room_.normal, room_.stream);
  }

 private:
  const DecoderRoom& room_;
  Normalisation norm_;
  Linear logits_;
};

}  // namespace

DecoderRoom decoder_room(Device& device, const DecoderSizes& sizes, std::int64_t sequences, bool with_gradients) {
  const TensorShape weights{{sequences, sizes.heads, sizes.context, sizes.context}};
  const std::int64_t gradients = with_gradients ? sequences : 0;
  const TensorShape rows{{gradients, sizes.context, sizes.width}}, wide{{gradients, sizes.context, sizes.hidden()}};
  return {room_for(device, rows), room_for(device, wide), room_for(device, rows), room_for(device, rows),
          room_for(device, weights)};
}

std::vector<std::unique_ptr<DecoderLayer>> decoder_layers(Device& device, const DecoderSizes& sizes,
                                                          std::int64_t sequences, const DecoderRoom& room) {
  std::vector<std::unique_ptr<DecoderLayer>> layers;
  layers.push_back(std::make_unique<Embedding>(device, sizes, sequences, room));
  for (std::int64_t block = 0; block < sizes.blocks; ++block) {
    layers.push_back(std::make_unique<Attention>(device, sizes, sequences, room));
    layers.push_back(std::make_unique<FeedForward>(device, sizes, sequences, room));
  }
  layers.push_back(std::make_unique<Head>(device, sizes, sequences, room));
  return layers;
}

}  // namespace trigram
