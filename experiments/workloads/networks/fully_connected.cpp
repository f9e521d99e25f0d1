// Forward and backward of fully connected layers.
#include "experiments/workloads/networks/fully_connected.hpp"

#include "core/step/workload.hpp"

namespace trigram {

MakeNetwork FullyConnected::over(std::vector<std::int64_t> hidden) {
  return [hidden = std::move(hidden)](const Dataset& data) {
    std::vector<std::int64_t> widths{data.features};
    widths.insert(widths.end(), hidden.begin(), hidden.end());
    widths.push_back(data.classes);
    return std::make_unique<FullyConnected>(std::move(widths));
  };
}

std::vector<Parameter> FullyConnected::parameters() const {
  std::vector<Parameter> parameters;
  for (int layer = 0; layer < layers(); ++layer) {
    const std::string name = "layer" + std::to_string(layer);
    parameters.push_back(whole_parameter(name + ".weight", {in(layer), out(layer)}, layer));
    parameters.push_back(whole_parameter(name + ".bias", {out(layer)}, layer, false));
  }
  return parameters;
}

std::string FullyConnected::shape() const {
  std::string text;
  for (const std::int64_t width : widths_) text += (text.empty() ? "" : "-") + std::to_string(width);
  return text;
}

std::vector<std::vector<float>> FullyConnected::initial(std::uint64_t seed) const {
  std::vector<std::vector<float>> values;
  for (int layer = 0; layer < layers(); ++layer) {
    const bool last = layer + 1 == layers();
    values.push_back(initial_weights(in(layer)*out(layer), last ? in(layer) + out(layer) : in(layer), seed, layer));
    values.emplace_back(static_cast<std::size_t>(out(layer)), 0.0F);
  }
  return values;
}

void FullyConnected::allocate(Device& device, std::int64_t rows, bool with_gradients) {
  apply(device, rows);
  activations_.clear();
  gradients_.clear();
  for (const std::int64_t width : widths_) activations_.push_back(device.allocate(Shape::of(rows * width, DType::f32)));
  if (!with_gradients) return;
  for (int layer = 0; layer < layers(); ++layer) {
    gradients_.push_back(device.allocate(Shape::of(layer == 0 ? 0 : rows * in(layer), DType::f32)));
  }
}

void FullyConnected::apply(const Device& device, std::int64_t rows) {
  rows_ = rows;
  biases_.clear();
  relus_.clear();
  for (int layer = 0; layer < layers(); ++layer) {
    const TensorShape result{{rows, out(layer)}};
    biases_.emplace_back(device, "bias", TensorShapes{result, {{out(layer)}}});
    if (layer + 1 < layers()) relus_.emplace_back(device, "relu", TensorShapes{result});
  }
}

Buffer FullyConnected::activation(int layer) const {
  return activations_[static_cast<std::size_t>(layer)].view().slice(0, rows_ * in(layer));
}

Buffer FullyConnected::gradient(int layer) const {
  return layer == layers() ? logits() : gradients_[static_cast<std::size_t>(layer)].view();
}

void FullyConnected::forward(Device& device, std::span<const Buffer> weights, std::int64_t rows) {
  if (rows != rows_) apply(device, rows);
  for (int layer = 0; layer < layers(); ++layer) {
    const auto index = static_cast<std::size_t>(layer);
    const Buffer weight = weights[2 * index];
    const Buffer bias = weights[2 * index + 1];
    const Buffer result = activation(layer + 1);
    device.gemm({.m = rows_, .n = out(layer), .k = in(layer)}, activation(layer), weight, result);
    biases_[index].forward(device, {.inputs = {result, bias}, .outputs = {result}});
    if (layer + 1 < layers()) relus_[index].forward(device, {.inputs = {result}, .outputs = {result}});
  }
}

void FullyConnected::backward(Device& device, int layer, std::span<const ParameterView> parameters) {
  const ParameterView &weight = parameters[0], &bias = parameters[1];
  const Buffer above = gradient(layer + 1), result = activation(layer + 1);
  // dW = xᵀ·dz, db = Σ rows of dz, dx = dz·Wᵀ where the ReLU below let something through.
  device.gemm({.m = in(layer), .n = out(layer), .k = rows_, .transpose_a = true}, activation(layer), above,
              weight.gradients);
  biases_[static_cast<std::size_t>(layer)].backward(device, {.inputs = {result, bias.weights},
                                                             .outputs = {result},
                                                             .output_gradients = {above},
                                                             .input_gradients = {{}, bias.gradients}});
  if (layer == 0) return;
  device.gemm({.m = rows_, .n = in(layer), .k = out(layer), .transpose_b = true}, above, weight.weights,
              gradient(layer));
  const Buffer below = activation(layer), slope = gradient(layer);
  relus_[static_cast<std::size_t>(layer) - 1].backward(
      device, {.inputs = {below}, .outputs = {below}, .output_gradients = {slope}, .input_gradients = {slope}});
}

}  // namespace trigram
