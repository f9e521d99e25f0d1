// Batched scoring.
#include "experiments/workloads/network_score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace trigram {
namespace {

constexpr std::int64_t most_rows = 1024;

bool all_finite(const std::vector<std::vector<float>>& weights) {
  return std::all_of(weights.begin(), weights.end(), [](const std::vector<float>& tensor) {
    return std::all_of(tensor.begin(), tensor.end(), [](float value) { return std::isfinite(value); });
  });
}

template <class T>
T downloaded(Device& device, Buffer one) {
  T value{};
  device.download(one, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace

NetworkScore network_score(Device& device, const Network& network, const std::vector<std::vector<float>>& weights,
                           const Samples& samples, std::int64_t begin, std::int64_t end) {
  if (!all_finite(weights)) return {std::numeric_limits<double>::quiet_NaN(), 0.0};
  const Device::Uncharged uncharged(device);
  std::vector<OwnedBuffer> memory;
  std::vector<Buffer> on_device;
  for (const std::vector<float>& tensor : weights) {
    memory.push_back(device.allocate(Shape::of(static_cast<std::int64_t>(tensor.size()), DType::f32)));
    on_device.push_back(memory.back());
    device.upload(std::as_bytes(std::span(tensor)), memory.back());
  }
  Network copy = network;
  const std::int64_t room = std::min(most_rows, end - begin);
  copy.allocate(device, room, false);
  const std::int64_t features = copy.input().count() / room;
  const std::int64_t classes = copy.logits().count() / room;
  const OwnedBuffer labels = device.allocate(Shape::of(room, DType::i32));
  const OwnedBuffer loss = device.allocate(Shape::of(1, DType::f32));
  const OwnedBuffer correct = device.allocate(Shape::of(1, DType::i64));

  double total_loss = 0;
  std::int64_t total_correct = 0;
  for (std::int64_t first = begin; first < end; first += room) {
    const std::int64_t rows = std::min(room, end - first);
    const Buffer row_labels = labels.view().slice(0, rows);
    const Buffer logits = copy.logits().slice(0, rows * classes);
    device.upload(
        std::as_bytes(std::span(samples.features.data() + first * features, static_cast<std::size_t>(rows * features))),
        copy.input().slice(0, rows * features));
    device.upload(std::as_bytes(std::span(samples.labels.data() + first, static_cast<std::size_t>(rows))), row_labels);
    copy.forward(device, on_device, rows);
    const TensorShapes shapes{{{rows, classes}}, {{rows}, DType::i32}};
    AppliedOperation(device, "count_correct", shapes)
        .forward(device, {.inputs = {logits, row_labels}, .outputs = {correct}});
    AppliedOperation(device, "cross_entropy", shapes)
        .forward(device, {.inputs = {logits, row_labels}, .outputs = {loss}, .saved = {logits}});
    total_correct += downloaded<std::int64_t>(device, correct);
    total_loss += downloaded<float>(device, loss);
  }
  const auto count = static_cast<double>(end - begin);
  return {total_loss / count, static_cast<double>(total_correct) / count};
}

}  // namespace trigram
