#include "core/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string_view>

namespace trigram {
namespace {

using HostWeights = Workload::HostWeights;

/// One rank's part of an evaluation.
struct Part {
  std::int64_t steps = 0;  ///< that this rank had done
  std::vector<float> weights;

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(sizeof steps + weights.size() * sizeof(float));
    std::memcpy(all.data(), &steps, sizeof steps);
    if (!weights.empty()) std::memcpy(&all[sizeof steps], weights.data(), weights.size() * sizeof(float));
    return all;
  }
  static Part of(const std::vector<std::byte>& bytes) {
    Part part;
    std::memcpy(&part.steps, bytes.data(), sizeof part.steps);
    part.weights.resize((bytes.size() - sizeof part.steps) / sizeof(float));
    if (!part.weights.empty())
      std::memcpy(part.weights.data(), &bytes[sizeof part.steps], bytes.size() - sizeof part.steps);
    return part;
  }
};

std::vector<Part> parts_of(const RankRuntime::Parts& all) {
  std::vector<Part> parts;
  for (const auto& bytes : all) parts.push_back(Part::of(bytes));
  return parts;
}

std::vector<float> flattened(const HostWeights& weights) {
  std::vector<float> flat;
  for (const std::vector<float>& parameter : weights) flat.insert(flat.end(), parameter.begin(), parameter.end());
  return flat;
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

std::vector<double> mean_of(const std::vector<Part>& parts) {
  std::vector<double> mean(parts.front().weights.size(), 0.0);
  for (const Part& part : parts) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += part.weights[i];
  }
  for (double& value : mean) value /= static_cast<double>(parts.size());
  return mean;
}

/// √(1/n Σ‖x_i − x̄‖²)
double consensus_distance(const std::vector<Part>& parts, const std::vector<double>& mean) {
  double sum = 0;
  for (const Part& part : parts) {
    for (std::size_t i = 0; i < mean.size(); ++i) sum += (part.weights[i] - mean[i]) * (part.weights[i] - mean[i]);
  }
  return std::sqrt(sum / static_cast<double>(parts.size()));
}

std::int64_t most_steps(const std::vector<Part>& parts) {
  std::int64_t most = 0;
  for (const Part& part : parts) most = std::max(most, part.steps);
  return most;
}

double worst_accuracy(Device& device, Workload& workload, const std::vector<Part>& parts, const HostWeights& like) {
  std::set<std::string_view> seen;
  double worst = 1;
  for (const Part& part : parts) {
    const auto bytes = std::as_bytes(std::span(part.weights));
    if (!seen.emplace(reinterpret_cast<const char*>(bytes.data()), bytes.size()).second) continue;
    const double accuracy = workload.accuracy(device, shaped(part.weights, like));
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

Evaluations::Evaluations(Worker& worker, Workload& workload, std::span<const ParameterView> parameters,
                         const TrainingOptions& options, Done done)
    : worker_(worker), workload_(workload), parameters_(parameters), options_(options), done_(std::move(done)) {}

void Evaluations::begin() {
  hand_in_now(0, 0);
  begin_ = worker_.now();
  keep_latest(0);
}

void Evaluations::after_step(std::int64_t steps) {
  if (by_seconds()) {
    for (; worker_.now() > next_time(); ++next_) hand_in(next_, next_time(), latest_steps_, latest_);
    keep_latest(steps);
  } else if (options_.evaluate_every > 0 && steps % options_.evaluate_every == 0 && steps < options_.steps) {
    hand_in_now(steps, steps);
  }
}

void Evaluations::keep_latest(std::int64_t steps) {
  if (!by_seconds() || workload_.phantom()) return;
  latest_ = download_weights(worker_.device, parameters_);
  latest_steps_ = steps;
}

void Evaluations::end() {
  std::int64_t last = options_.steps;
  if (by_seconds()) {
    last = worker_.agree(next_, ReduceOp::max);
    for (; next_ < last; ++next_) hand_in(next_, next_time(), latest_steps_, latest_);
  }
  hand_in_now(last, options_.steps);
}

void Evaluations::hand_in_now(std::int64_t key, std::int64_t steps) {
  if (workload_.phantom()) return;
  hand_in(key, std::numeric_limits<double>::quiet_NaN(), steps, download_weights(worker_.device, parameters_));
}

/// A time that is NaN stands for the moment at which the last rank hands in.
void Evaluations::hand_in(std::int64_t key, double time, std::int64_t steps, const HostWeights& own) {
  if (workload_.phantom()) return;
  worker_.runtime().collect(key, Part{steps, flattened(own)}.bytes(), [&](const RankRuntime::Parts& all) {
    const Device::Uncharged free(worker_.device);
    const std::vector<Part> parts = parts_of(all);
    const std::vector<double> mean = mean_of(parts);
    const HostWeights mean_weights = shaped(mean, own);
    EvalRow row;
    row.step = most_steps(parts);
    row.time_s = std::isnan(time) ? worker_.now() : time;
    row.loss = workload_.objective(worker_.device, mean_weights).value_or(std::nan(""));
    row.accuracy = workload_.accuracy(worker_.device, mean_weights);
    row.worst_accuracy = worst_accuracy(worker_.device, workload_, parts, own);
    row.consensus_distance = consensus_distance(parts, mean);
    done_(row);
  });
}

}  // namespace trigram
