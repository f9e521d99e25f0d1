#include "core/training/evaluation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/device/on_host.hpp"
#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

/// What this rank has handed in waits in its memory. Beyond so many bytes ranks meet before the end.
constexpr std::size_t most_kept_bytes = std::size_t{256} << 20;

using HostWeights = Workload::HostWeights;

/// One rank's part of an evaluation.
struct Part {
  int line = 0;  ///< the first rank of its data-parallel group
  Evaluations::Reached reached;
  double time = 0;  ///< when it was handed in
  std::vector<float> weights;
};

std::vector<std::byte> packed(const Evaluations::Reached& reached, double time, const std::vector<float>& weights) {
  Packer packer;
  packer.put(reached.steps);
  packer.put(reached.bytes_sent);
  packer.put(reached.bytes_between_nodes);
  packer.put(reached.busy_s);
  put(packer, reached.recorded);
  packer.put(time);
  packer.put_all(std::span(weights));
  return std::move(packer).bytes();
}

std::vector<Part> parts_of(const RankRuntime::Parts& all, const Mesh& mesh) {
  std::vector<Part> parts;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    Unpacker unpacker(all[rank]);
    Part& part = parts.emplace_back();
    part.line = mesh.first_of_line(Mesh::data, static_cast<int>(rank));
    part.reached.steps = unpacker.take<std::int64_t>();
    part.reached.bytes_sent = unpacker.take<std::int64_t>();
    part.reached.bytes_between_nodes = unpacker.take<std::int64_t>();
    part.reached.busy_s = unpacker.take<double>();
    part.reached.recorded = take_records(unpacker);
    part.time = unpacker.take<double>();
    part.weights = unpacker.take_all<float>();
  }
  return parts;
}

std::vector<float> flattened(const HostWeights& weights) {
  std::vector<float> flat;
  for (const std::vector<float>& parameter : weights) flat.insert(flat.end(), parameter.begin(), parameter.end());
  return flat;
}

/// The flat values cut into parameters.
template <class Value>
HostWeights shaped(const std::vector<Value>& flat, std::span<const ParameterView> parameters) {
  std::int64_t count = 0;
  for (const ParameterView& parameter : parameters) count += parameter.weights.count();
  ensure(static_cast<std::int64_t>(flat.size()) == count, "data-parallel groups hold ", flat.size(), " and ", count,
         " weights; their parts of the model must have equal sizes");
  HostWeights weights;
  auto next = flat.begin();
  for (const ParameterView& parameter : parameters) {
    const auto end = next + static_cast<std::ptrdiff_t>(parameter.weights.count());
    weights.emplace_back(next, end);
    next = end;
  }
  return weights;
}

/// The mean weights of each data-parallel group.
using Means = std::map<int, std::vector<double>>;

Means means_of(const std::vector<Part>& parts) {
  Means means;
  std::map<int, int> ranks;
  for (const Part& part : parts) {
    std::vector<double>& mean = means[part.line];
    mean.resize(part.weights.size());
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += part.weights[i];
    ++ranks[part.line];
  }
  for (auto& [line, mean] : means) {
    for (double& value : mean) value /= ranks[line];
  }
  return means;
}

/// √(1/n Σ‖x_i − x̄‖²), each from the mean of its data-parallel group.
double consensus_distance(const std::vector<Part>& parts, const Means& means) {
  double sum = 0;
  for (const Part& part : parts) {
    const std::vector<double>& mean = means.at(part.line);
    for (std::size_t i = 0; i < mean.size(); ++i) sum += (part.weights[i] - mean[i]) * (part.weights[i] - mean[i]);
  }
  return std::sqrt(sum / static_cast<double>(parts.size()));
}

std::int64_t most_steps(const std::vector<Part>& parts) {
  std::int64_t most = 0;
  for (const Part& part : parts) most = std::max(most, part.reached.steps);
  return most;
}

/// Over parts, of what each had reached.
template <class Number>
double sum_of(const std::vector<Part>& parts, Number Evaluations::Reached::*number) {
  double sum = 0;
  for (const Part& part : parts) sum += static_cast<double>(part.reached.*number);
  return sum;
}

/// Of each column, over the ranks that have recorded it.
Records mean_records(const std::vector<Part>& parts) {
  Records sums, ranks;
  for (const Part& part : parts) {
    for (const auto& [column, value] : part.reached.recorded) {
      sums[column] += value;
      ranks[column] += 1;
    }
  }
  for (auto& [column, value] : sums) value /= ranks[column];
  return sums;
}

double last_time(const std::vector<Part>& parts) {
  double last = 0;
  for (const Part& part : parts) last = std::max(last, part.time);
  return last;
}

double worst_accuracy(Device& device, Workload& workload, const std::vector<Part>& parts,
                      std::span<const ParameterView> parameters) {
  std::set<std::string_view> seen;
  double worst = 1;
  for (const Part& part : parts) {
    const auto bytes = std::as_bytes(std::span(part.weights));
    if (!seen.emplace(reinterpret_cast<const char*>(bytes.data()), bytes.size()).second) continue;
    const double accuracy = workload.accuracy(device, shaped(part.weights, parameters));
    worst = std::isnan(accuracy) ? accuracy : std::min(worst, accuracy);
  }
  return worst;
}

}  // namespace

HostWeights download_weights(Device& device, std::span<const ParameterView> parameters) {
  HostWeights weights;
  for (const ParameterView& parameter : parameters) weights.push_back(on_host<float>(device, parameter.weights));
  return weights;
}

std::uint64_t digest_of(const HostWeights& weights) {
  std::uint64_t value = 14695981039346656037ULL;
  for (const std::vector<float>& parameter : weights) {
    for (const float weight : parameter) value = (value ^ std::bit_cast<std::uint32_t>(weight)) * 1099511628211ULL;
  }
  return value;
}

Evaluations::Evaluations(Worker& worker, Workload& workload, std::span<const ParameterView> parameters,
                         const TrainingOptions& options, Done done)
    : worker_(worker),
      workload_(workload),
      parameters_(parameters),
      options_(options),
      done_(std::move(done)),
      trains_(worker.rank() < training_ranks(options, worker.world_size())) {
  for (const ParameterView& one : parameters)
    part_bytes_ += sizeof(float) * static_cast<std::size_t>(one.weights.count());
}

void Evaluations::begin() {
  hand_in_now(0, {});
  begin_ = worker_.now();
  keep_latest({});
}

void Evaluations::after_step(const Reached& reached) {
  if (by_seconds()) {
    hand_in_until_now();
    keep_latest(reached);
  } else if (options_.evaluate_every > 0 && reached.steps % options_.evaluate_every == 0 &&
             reached.steps < options_.steps) {
    hand_in_now(reached.steps, reached);
  }
}

void Evaluations::hand_in_until_now() {
  require_few();
  for (; worker_.now() > next_time(); ++next_) hand_in(next_, next_time(), latest_reached_, latest_);
}

void Evaluations::quiesce(const Reached& reached) {
  if (by_seconds()) hand_in_until_now();
  keep_latest(reached);
  score_kept();
}

void Evaluations::require_few() const {
  constexpr double most = 10'000;
  const double seconds = worker_.now() - begin_;
  ensure(
      seconds / options_.evaluate_seconds <= most, "evaluations every ",
      [&] { return format_quantity(options_.evaluate_seconds, Unit::seconds); }, " would be more than ", most,
      " after ", [&] { return format_quantity(seconds, Unit::seconds); }, " of simulated time; ask for fewer");
}

void Evaluations::keep_latest(const Reached& reached) {
  if (!by_seconds() || workload_.phantom() || !trains_) return;
  latest_ = download_weights(worker_.device, parameters_);
  latest_reached_ = reached;
}

void Evaluations::end(const Reached& reached) {
  std::int64_t last = options_.steps;
  // Data-parallel groups may be far apart, and collecting is watched.
  if (worker_.mesh().ranks() > worker_.world_size()) worker_.runtime().barrier();
  if (by_seconds()) {
    last = worker_.agree(next_, ReduceOp::max);
    for (; next_ < last; ++next_) hand_in(next_, next_time(), latest_reached_, latest_);
  }
  hand_in_now(last, reached);
  score_kept();
}

void Evaluations::hand_in_now(std::int64_t key, const Reached& reached) {
  if (workload_.phantom()) return;
  const HostWeights own = trains_ ? download_weights(worker_.device, parameters_) : HostWeights();
  hand_in(key, std::numeric_limits<double>::quiet_NaN(), reached, own);
}

/// A time that is NaN stands for the moment at which the last rank hands in.
void Evaluations::hand_in(std::int64_t key, double time, const Reached& reached, const HostWeights& own) {
  if (workload_.phantom()) return;
  std::vector<std::byte> part;
  if (trains_) part = packed(reached, worker_.now(), flattened(own));
  if (worker_.runtime().collect_is_free()) return score(key, time, std::move(part));
  kept_bytes_ += part_bytes_;  // the same on every rank: they meet together
  kept_.push_back({key, time, std::move(part)});
  if (kept_bytes_ > most_kept_bytes) score_kept();
}

void Evaluations::score_kept() {
  for (Kept& kept : std::exchange(kept_, {})) score(kept.key, kept.time, std::move(kept.part));
  kept_bytes_ = 0;
}

void Evaluations::score(std::int64_t key, double time, std::vector<std::byte> part) {
  worker_.runtime().collect(key, std::move(part), [this, time](const RankRuntime::Parts& all) {
    const Device::Uncharged free(worker_.device);
    const std::vector<Part> parts = parts_of(all, worker_.mesh());
    const Means means = means_of(parts);
    const auto lines = static_cast<double>(means.size());
    EvalRow row;
    for (const auto& [line, mean] : means) {
      const HostWeights weights = shaped(mean, parameters_);
      row.loss += workload_.objective(worker_.device, weights).value_or(std::nan("")) / lines;
      row.accuracy += workload_.accuracy(worker_.device, weights) / lines;
    }
    row.step = most_steps(parts);
    row.time_s = std::isnan(time) ? last_time(parts) : time;
    row.worst_accuracy = worst_accuracy(worker_.device, workload_, parts, parameters_);
    row.consensus_distance = consensus_distance(parts, means);
    row.bytes_sent = sum_of(parts, &Reached::bytes_sent) / static_cast<double>(parts.size());
    row.bytes_between_nodes = sum_of(parts, &Reached::bytes_between_nodes);
    row.steps_mean = sum_of(parts, &Reached::steps) / static_cast<double>(parts.size());
    row.busy_s = sum_of(parts, &Reached::busy_s);
    row.recorded = mean_records(parts);
    done_(row);
  });
}

}  // namespace trigram
