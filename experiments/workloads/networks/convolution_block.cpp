#include "experiments/workloads/networks/convolution_block.hpp"

#include "core/step/workload.hpp"

namespace trigram {
namespace {

constexpr std::int64_t side = 3;  // of a filter

}  // namespace

std::vector<Parameter> ConvolutionBlock::parameters(int layer) const {
  const std::string name = "layer" + std::to_string(layer);
  const std::int64_t filters = convolved_.channels;
  const auto of_a_channel = [&](const char* what) { return whole_parameter(name + what, {filters}, layer, false); };
  std::vector<Parameter> all{whole_parameter(name + ".filters", {filters, images_.channels, side, side}, layer)};
  if (!normalises_) return all.push_back(of_a_channel(".bias")), all;
  all.push_back(of_a_channel(".gain"));
  all.push_back(of_a_channel(".shift"));
  return all;
}

std::vector<std::vector<float>> ConvolutionBlock::initial(std::uint64_t seed, int layer) const {
  const std::int64_t fan_in = images_.channels * side * side;
  const auto filters = static_cast<std::size_t>(convolved_.channels);
  std::vector<std::vector<float>> values{initial_weights(convolved_.channels * fan_in, fan_in, seed, layer)};
  if (normalises_) values.emplace_back(filters, 1.0F);
  values.emplace_back(filters, 0.0F);
  return values;
}

ConvolutionBlock::Applied::Applied(const Device& device, const ConvolutionBlock& block, std::int64_t samples)
    : rows(samples),
      convolution(device, "conv2d:padding=1",
                  {{block.images_.of(samples)}, {{block.convolved_.channels, block.images_.channels, side, side}}}),
      pool(device, "max_pool:size=2", {{block.convolved_.of(samples)}}),
      relu(device, "relu", {{block.result().of(samples)}}) {
  const TensorShape images{block.convolved_.of(samples)}, channel{{block.convolved_.channels}};
  if (!block.normalises_) {
    bias.emplace(device, "channel_bias", TensorShapes{images, channel});
    return;
  }
  norm.emplace(device, "batch_norm", TensorShapes{images, channel, channel});
  frozen_norm.emplace(device, "frozen_batch_norm", TensorShapes{images, channel, channel, channel, channel});
}

void ConvolutionBlock::allocate(Device& device, std::int64_t rows, bool with_gradients) {
  applied_.emplace(device, *this, rows);
  const auto room = [&](std::int64_t count) { return device.allocate(Shape::of(count, DType::f32)); };
  const std::int64_t pixels = rows * convolved_.count();
  scratch_ = device.allocate(applied_->convolution.scratch());
  places_ = device.allocate(Shape::of(rows * result().count(), DType::i32));
  convolved_memory_ = room(pixels);
  if (with_gradients) convolved_slope_ = room(pixels);
  if (!normalises_) return;
  mean_ = room(convolved_.channels);
  scale_ = room(convolved_.channels);
  normalised_memory_ = room(pixels);
  if (with_gradients) normalised_slope_ = room(pixels);
}

void ConvolutionBlock::forward(Device& device, std::span<const Buffer> weights, const Buffer& images,
                               const Buffer& result, std::int64_t rows) {
  if (rows != applied_->rows) applied_.emplace(device, *this, rows);
  applied_->convolution.forward(device, {{images, weights[0]}, {convolved()}, {}, scratch_});
  normalise(device, weights);
  applied_->pool.forward(device, {.inputs = {normalised()}, .outputs = {result}, .saved = {places()}});
  applied_->relu.forward(device, {.inputs = {result}, .outputs = {result}});
}

void ConvolutionBlock::normalise(Device& device, std::span<const Buffer> weights) {
  if (!normalises_)
    return applied_->bias->forward(device, {.inputs = {convolved(), weights[1]}, .outputs = {convolved()}});
  if (frozen_)
    return applied_->frozen_norm->forward(
        device, {.inputs = {convolved(), weights[1], weights[2], mean_, scale_}, .outputs = {normalised()}});
  applied_->norm->forward(
      device, {.inputs = {convolved(), weights[1], weights[2]}, .outputs = {normalised()}, .saved = {mean_, scale_}});
}

void ConvolutionBlock::backward(Device& device, std::span<const ParameterView> parameters, const Buffer& images,
                                const Buffer& result, const Buffer& slope, const Buffer& below) {
  const std::int64_t rows = applied_->rows;
  const Buffer convolved_slope = rows_of(convolved_slope_, convolved_, rows);
  const Buffer normalised_slope = normalises_ ? rows_of(normalised_slope_, convolved_, rows) : convolved_slope;
  applied_->relu.backward(
      device, {.inputs = {result}, .outputs = {result}, .output_gradients = {slope}, .input_gradients = {slope}});
  applied_->pool.backward(device, {.inputs = {normalised()},
                                   .outputs = {result},
                                   .saved = {places()},
                                   .output_gradients = {slope},
                                   .input_gradients = {normalised_slope}});
  differentiate_norm(device, parameters, normalised_slope);
  applied_->convolution.backward(device, {.inputs = {images, parameters[0].weights},
                                          .outputs = {convolved()},
                                          .output_gradients = {convolved_slope},
                                          .input_gradients = {below, parameters[0].gradients},
                                          .scratch = scratch_});
}

void ConvolutionBlock::differentiate_norm(Device& device, std::span<const ParameterView> parameters,
                                          const Buffer& normalised_slope) {
  if (!normalises_)
    return applied_->bias->backward(device, {.inputs = {convolved(), parameters[1].weights},
                                             .outputs = {convolved()},
                                             .output_gradients = {normalised_slope},
                                             .input_gradients = {{}, parameters[1].gradients}});
  applied_->norm->backward(device, {.inputs = {convolved(), parameters[1].weights, parameters[2].weights},
                                    .outputs = {normalised()},
                                    .saved = {mean_, scale_},
                                    .output_gradients = {normalised_slope},
                                    .input_gradients = {rows_of(convolved_slope_, convolved_, applied_->rows),
                                                        parameters[1].gradients, parameters[2].gradients}});
}

}  // namespace trigram
