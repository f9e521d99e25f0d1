// Forward and backward of a feed-forward network.
#include "experiments/workloads/network.hpp"

#include <cmath>

#include "core/random.hpp"
#include "core/workload.hpp"

namespace trigram {

std::vector<Parameter> Network::parameters() const {
  std::vector<Parameter> parameters;
  for (int layer = 0; layer < layers(); ++layer) {
    const std::string name = "layer" + std::to_string(layer);
    parameters.push_back(whole_parameter(name + ".weight", {in(layer), out(layer)}, layer));
    parameters.push_back(whole_parameter(name + ".bias", {out(layer)}, layer, false));
  }
  return parameters;
}

std::string Network::shape() const {
  std::string text;
  for (const std::int64_t width : widths_) text += (text.empty() ? "" : "-") + std::to_string(width);
  return text;
}

std::vector<std::vector<float>> Network::initial(std::uint64_t seed) const {
  std::vector<std::vector<float>> values;
  for (int layer = 0; layer < layers(); ++layer) {
    const bool last = layer + 1 == layers();
    const auto fan = static_cast<double>(last ? in(layer) + out(layer) : in(layer));
    const auto bound = static_cast<float>(std::sqrt(6.0 / fan));
    const Philox stream({.seed = seed, .bucket = layer, .phase = Phase::weights});
    std::vector<float>& weights = values.emplace_back(static_cast<std::size_t>(in(layer)*out(layer)));
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = bound * (2.0F * stream.uniform(i) - 1.0F);
    values.emplace_back(static_cast<std::size_t>(out(layer)), 0.0F);
  }
  return values;
}

void Network::allocate(Device& device, std::int64_t rows, bool with_gradients) {
  apply(device, rows);
  activations_.clear();
  gradients_.clear();
  for (const std::int64_t width : widths_) activations_.push_back(device.allocate(Shape::of(rows * width, DType::f32)));
  if (!with_gradients) return;
  for (int layer = 0; layer < layers(); ++layer) {
    gradients_.push_back(device.allocate(Shape::of(layer == 0 ? 0 : rows * in(layer), DType::f32)));
  }
}

void Network::apply(const Device& device, std::int64_t rows) {
  rows_ = rows;
  biases_.clear();
  relus_.clear();
  for (int layer = 0; layer < layers(); ++layer) {
    const TensorShape result{{rows, out(layer)}};
    biases_.emplace_back(device, "bias", TensorShapes{result, {{out(layer)}}});
    if (layer + 1 < layers()) relus_.emplace_back(device, "relu", TensorShapes{result});
  }
}

Buffer Network::activation(int layer) const {
  return activations_[static_cast<std::size_t>(layer)].view().slice(0, rows_ * in(layer));
}

Buffer Network::gradient(int layer) const {
  return layer == layers() ? logits() : gradients_[static_cast<std::size_t>(layer)].view();
}

void Network::forward(Device& device, std::span<const Buffer> weights, std::int64_t rows) {
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

void Network::backward(Device& device, int layer, const ParameterView& weight, const ParameterView& bias) {
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
