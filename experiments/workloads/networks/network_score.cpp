// Batched scoring.
#include "experiments/workloads/networks/network_score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/step/operation.hpp"

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

/// So many samples of a run, at equal distances, since files may be sorted by label.
std::vector<float> spread_samples(const SampleRange& range, std::int64_t features, std::int64_t count) {
  std::vector<float> rows;
  rows.reserve(static_cast<std::size_t>(count * features));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t sample = range.begin + i * (range.end - range.begin) / count;
    const auto row = range.samples.features.begin() + sample * features;
    rows.insert(rows.end(), row, row + features);
  }
  return rows;
}

}  // namespace

NetworkScore network_score(Device& device, Network& network, const std::vector<std::vector<float>>& weights,
                           const SampleRange& training, const SampleRange& scored) {
  const auto& [samples, begin, end] = scored;
  if (!all_finite(weights)) return {std::numeric_limits<double>::quiet_NaN(), 0.0};
  const Device::Uncharged uncharged(device);
  std::vector<OwnedBuffer> memory;
  std::vector<Buffer> on_device;
  for (const std::vector<float>& tensor : weights) {
    memory.push_back(device.allocate(Shape::of(static_cast<std::int64_t>(tensor.size()), DType::f32)));
    on_device.push_back(memory.back());
    device.upload(std::as_bytes(std::span(tensor)), memory.back());
  }
  const std::int64_t of_statistics = network.has_statistics() ? std::min(most_rows, training.end - training.begin) : 0;
  const std::int64_t room = std::max(std::min(most_rows, end - begin), of_statistics);
  network.allocate(device, room, false);
  const std::int64_t features = network.input().count() / room;
  const std::int64_t classes = network.logits().count() / room;
  if (of_statistics > 0) {
    const std::vector<float> spread = spread_samples(training, features, of_statistics);
    device.upload(std::as_bytes(std::span(spread)), network.input().slice(0, of_statistics * features));
    network.forward(device, on_device, of_statistics);
    network.freeze_statistics();
  }
  const OwnedBuffer labels = device.allocate(Shape::of(room, DType::i32));
  const OwnedBuffer loss = device.allocate(Shape::of(1, DType::f32));
  const OwnedBuffer correct = device.allocate(Shape::of(1, DType::i64));

  double total_loss = 0;
  std::int64_t total_correct = 0;
  for (std::int64_t first = begin; first < end; first += room) {
    const std::int64_t rows = std::min(room, end - first);
    const Buffer row_labels = labels.view().slice(0, rows);
    const Buffer logits = network.logits().slice(0, rows * classes);
    device.upload(
        std::as_bytes(std::span(samples.features.data() + first * features, static_cast<std::size_t>(rows * features))),
        network.input().slice(0, rows * features));
    device.upload(std::as_bytes(std::span(samples.labels.data() + first, static_cast<std::size_t>(rows))), row_labels);
    network.forward(device, on_device, rows);
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
