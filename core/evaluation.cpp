#include "core/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string_view>

namespace trigram {
namespace {

using HostWeights = Workload::HostWeights;

std::vector<std::byte> flattened(const HostWeights& weights) {
  std::vector<std::byte> bytes;
  for (const std::vector<float>& parameter : weights) {
    const auto view = std::as_bytes(std::span(parameter));
    bytes.insert(bytes.end(), view.begin(), view.end());
  }
  return bytes;
}

/// The flat values cut as `like` is.
template <class Value>
HostWeights shaped(const std::vector<Value>& flat, const HostWeights& like) {
  HostWeights weights;
  auto next = flat.begin();
  for (const std::vector<float>& parameter : like) {
    const auto end = next + static_cast<std::ptrdiff_t>(parameter.size());
    weights.emplace_back(next, end);
    next = end;
  }
  return weights;
}

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<double> mean_of(const RankRuntime::Parts& parts) {
  std::vector<double> mean(parts.front().size() / sizeof(float), 0.0);
  for (const auto& part : parts) {
    const std::vector<float> values = floats(part);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += values[i];
  }
  for (double& value : mean) value /= static_cast<double>(parts.size());
  return mean;
}

/// √(1/n Σ‖x_i − x̄‖²)
double consensus_distance(const RankRuntime::Parts& parts, const std::vector<double>& mean) {
  double sum = 0;
  for (const auto& part : parts) {
    const std::vector<float> values = floats(part);
    for (std::size_t i = 0; i < mean.size(); ++i) sum += (values[i] - mean[i]) * (values[i] - mean[i]);
  }
  return std::sqrt(sum / static_cast<double>(parts.size()));
}

double worst_accuracy(Device& device, Workload& workload, const RankRuntime::Parts& parts, const HostWeights& like) {
  std::set<std::string_view> seen;
  double worst = 1;
  for (const auto& part : parts) {
    const std::string_view bytes(reinterpret_cast<const char*>(part.data()), part.size());
    if (!seen.insert(bytes).second) continue;
    const double accuracy = workload.accuracy(device, shaped(floats(part), like));
    worst = std::isnan(accuracy) ? accuracy : std::min(worst, accuracy);
  }
  return worst;
}

}  // namespace

HostWeights download_weights(Device& device, std::span<const ParameterView> parameters) {
  HostWeights weights;
  for (const ParameterView& parameter : parameters) {
    std::vector<float>& host = weights.emplace_back(static_cast<std::size_t>(parameter.weights.count()));
    device.download(parameter.weights, std::as_writable_bytes(std::span(host)));
  }
  return weights;
}

void evaluate(Worker& worker, Workload& workload, std::span<const ParameterView> parameters, std::int64_t step,
              const std::function<void(const EvalRow&)>& done) {
  if (workload.phantom()) return;
  const HostWeights own = download_weights(worker.device, parameters);
  worker.runtime().collect(step, flattened(own), [&](const RankRuntime::Parts& parts) {
    const Device::Uncharged free(worker.device);
    const std::vector<double> mean = mean_of(parts);
    const HostWeights mean_weights = shaped(mean, own);
    EvalRow row;
    row.step = step;
    row.time_s = worker.now();
    row.loss = workload.objective(worker.device, mean_weights).value_or(std::nan(""));
    row.accuracy = workload.accuracy(worker.device, mean_weights);
    row.worst_accuracy = worst_accuracy(worker.device, workload, parts, own);
    row.consensus_distance = consensus_distance(parts, mean);
    done(row);
  });
}

}  // namespace trigram
