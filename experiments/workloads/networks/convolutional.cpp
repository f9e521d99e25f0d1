#include "experiments/workloads/networks/convolutional.hpp"

#include <numeric>

#include "core/step/workload.hpp"
#include "core/values/error.hpp"

namespace trigram {

Convolutional::Convolutional(const std::string& owner, ImageSize image, const std::vector<std::int64_t>& channels,
                             ChannelNorm norm, std::int64_t classes)
    : image_(image), norm_(norm) {
  ChannelImages images{1, image.height, image.width};
  for (const std::int64_t filters : channels) {
    require(images.height >= 2 && images.width >= 2, owner, ": each number of channels halves images of ", image.height,
            "x", image.width, ", of which nothing is left for the last of ", channels.size(), "; give ", blocks_.size(),
            " at most");
    widths_.push_back(images.count());
    blocks_.emplace_back(images, filters, norm == ChannelNorm::batch);
    images = blocks_.back().result();
  }
  widths_.push_back(images.count());
  widths_.push_back(classes);
}

std::vector<Parameter> Convolutional::parameters() const {
  std::vector<Parameter> all;
  for (int layer = 0; layer + 1 < layers(); ++layer) {
    const std::vector<Parameter> own = blocks_[static_cast<std::size_t>(layer)].parameters(layer);
    all.insert(all.end(), own.begin(), own.end());
  }
  const int last = layers() - 1;
  const std::string name = "layer" + std::to_string(last);
  all.push_back(whole_parameter(name + ".weight", {widths_[widths_.size() - 2], widths_.back()}, last));
  all.push_back(whole_parameter(name + ".bias", {widths_.back()}, last, false));
  return all;
}

std::string Convolutional::shape() const {
  std::string text = std::to_string(image_.height) + "x" + std::to_string(image_.width);
  for (const ConvolutionBlock& block : blocks_) text += "-" + std::to_string(block.result().channels);
  return text + "-" + std::to_string(widths_.back());
}

std::vector<std::vector<float>> Convolutional::initial(std::uint64_t seed) const {
  std::vector<std::vector<float>> all;
  for (int layer = 0; layer + 1 < layers(); ++layer) {
    for (std::vector<float>& own : blocks_[static_cast<std::size_t>(layer)].initial(seed, layer))
      all.push_back(std::move(own));
  }
  const std::int64_t in = widths_[widths_.size() - 2], classes = widths_.back();
  all.push_back(initial_weights(in * classes, in + classes, seed, layers() - 1));
  all.emplace_back(static_cast<std::size_t>(classes), 0.0F);
  return all;
}

double Convolutional::elements_a_sample() const {
  std::int64_t elements = 2 * std::accumulate(widths_.begin(), widths_.end(), std::int64_t{0});
  for (const ConvolutionBlock& block : blocks_) elements += block.elements_a_sample();
  return static_cast<double>(elements);
}

void Convolutional::allocate(Device& device, std::int64_t rows, bool with_gradients) {
  rows_ = 0;
  activations_.clear();
  gradients_.clear();
  for (ConvolutionBlock& block : blocks_) block.allocate(device, rows, with_gradients);
  for (const std::int64_t width : widths_) activations_.push_back(device.allocate(Shape::of(rows * width, DType::f32)));
  if (!with_gradients) return;
  for (std::size_t layer = 0; layer <= blocks_.size(); ++layer)
    gradients_.push_back(device.allocate(Shape::of(layer == 0 ? 0 : rows * widths_[layer], DType::f32)));
}

void Convolutional::freeze_statistics() {
  for (ConvolutionBlock& block : blocks_) block.freeze_statistics();
}

void Convolutional::forward(Device& device, std::span<const Buffer> weights, std::int64_t rows) {
  if (rows != rows_) {
    rows_ = rows;
    bias_.emplace(device, "bias", TensorShapes{{{rows, widths_.back()}}, {{widths_.back()}}});
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i, weights = weights.subspan(parameters_a_block()))
    blocks_[i].forward(device, weights.first(parameters_a_block()), activation(i), activation(i + 1), rows);
  classify(device, weights[0], weights[1]);
}

void Convolutional::classify(Device& device, const Buffer& weight, const Buffer& bias) {
  const std::size_t layer = blocks_.size();
  const Buffer result = activation(layer + 1);
  device.gemm({.m = rows_, .n = widths_[layer + 1], .k = widths_[layer]}, activation(layer), weight, result);
  bias_->forward(device, {.inputs = {result, bias}, .outputs = {result}});
}

void Convolutional::backward(Device& device, int layer, std::span<const ParameterView> parameters) {
  const auto index = static_cast<std::size_t>(layer);
  if (index == blocks_.size()) return differentiate_classes(device, parameters[0], parameters[1]);
  blocks_[index].backward(device, parameters, activation(index), activation(index + 1), gradient(index + 1),
                          index == 0 ? Buffer() : gradient(index));
}

void Convolutional::differentiate_classes(Device& device, const ParameterView& weight, const ParameterView& bias) {
  const std::size_t layer = blocks_.size();
  const Buffer above = gradient(layer + 1), result = activation(layer + 1);
  device.gemm({.m = widths_[layer], .n = widths_[layer + 1], .k = rows_, .transpose_a = true}, activation(layer), above,
              weight.gradients);
  bias_->backward(device, {.inputs = {result, bias.weights},
                           .outputs = {result},
                           .output_gradients = {above},
                           .input_gradients = {{}, bias.gradients}});
  device.gemm({.m = rows_, .n = widths_[layer], .k = widths_[layer + 1], .transpose_b = true}, above, weight.weights,
              gradient(layer));
}

}  // namespace trigram
