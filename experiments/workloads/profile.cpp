// Profiles: phantom training on a table's clock.
#include "experiments/workloads/profile.hpp"

#include <limits>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

/// As messages name a table.
std::string named(const ProfileTable& table) {
  return "profile " + in_quotes(table.name) + " (" + shown(table.file) + ")";
}

}  // namespace

Profile::Profile(std::shared_ptr<const ProfileTable> table, Params& params)
    : table_(std::move(table)),
      batch_(
          params.get("batch", std::int64_t{0}, "samples a step on each GPU; 0: the table's own", {0, 1'000'000'000})),
      forward_fraction_(
          params.get("forward_fraction", 1.0 / 3.0, "part of a step's compute time that is forward", {0, 1})) {
  const std::string compute = params.get("compute", "measured", "seconds of a step's compute, measured, or roofline");
  const std::string rest = params.get("rest", "measured", "seconds of a step beside its compute, or measured");
  rest_ = rest == "measured"
              ? table_->rest_seconds.value_or(0)
              : located(params.owner() + ": rest: ", [&] { return parse_quantity(rest, Unit::seconds); });
  if (batch_ == 0) batch_ = table_->batch;
  if (table_->layers.empty()) return;
  layers_.resize(table_->layers.size());
  for (const Parameter& parameter : table_->parameters) {
    layers_[static_cast<std::size_t>(parameter.layer)].parameters += static_cast<double>(parameter.modelled_count);
  }
  choose_clock(compute, params);
}

void Profile::choose_clock(const std::string& compute, const Params& params) {
  const double batches = static_cast<double>(batch_) / static_cast<double>(table_->batch);
  if (compute == "roofline") {
    clock_ = Clock::roofline;
  } else {
    const bool by_layers = table_->has_measured_layers();
    clock_ = by_layers ? Clock::measured_layers : Clock::measured_step;
    if (compute != "measured") {
      step_seconds_ = located(params.owner() + ": compute: ", [&] { return parse_quantity(compute, Unit::seconds); });
    } else if (by_layers || table_->compute_seconds) {
      step_seconds_ = batches * table_->compute_seconds.value_or(table_->seconds_of_layers());
    } else {
      clock_ = Clock::unknown;
    }
  }
  require(clock_ == Clock::measured_step || clock_ == Clock::unknown || !params.has("forward_fraction"),
          params.owner() + ": forward_fraction has no effect where each layer has its own forward and backward time");
  if (clock_ == Clock::measured_step) spread_over_layers();
  if (clock_ == Clock::measured_layers) take_measured_layers(step_seconds_);
}

void Profile::take_measured_layers(double seconds) {
  const double measured = table_->seconds_of_layers();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i].forward_seconds = table_->layers[i].forward_seconds * seconds / measured;
    layers_[i].backward_seconds = table_->layers[i].backward_seconds * seconds / measured;
  }
}

void Profile::spread_over_layers() {
  double forward = 0;
  double backward = 0;
  for (const ProfileLayer& layer : table_->layers) {
    forward += layer.forward_flops;
    backward += layer.backward_flops;
  }
  require(forward > 0 && backward > 0, named(*table_) + " has no FLOPs to spread a step's time by");
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const ProfileLayer& layer = table_->layers[i];
    layers_[i].forward_seconds = step_seconds_ * forward_fraction_ * layer.forward_flops / forward;
    layers_[i].backward_seconds = step_seconds_ * (1 - forward_fraction_) * layer.backward_flops / backward;
  }
}

void Profile::open(const Shard& shard) {
  require(!table_->layers.empty(), "workload 'profile' needs file=TABLE, a profile in CSV");
  require(clock_ != Clock::unknown, [&] {
    return "no time was measured for " + named(*table_) +
           "; give compute=0.5s (a step's compute time) or compute=roofline";
  });
  require(shard.label_skew == 0, named(*table_) + " has no data whose labels could be skewed");
  require(!shard.validation, named(*table_) + " has no data to hold out for validation");
  require(shard.global_batch >= 0, "a global batch of " + std::to_string(shard.global_batch) + " samples is negative");
  global_batch_ = shard.global_batch > 0 ? shard.global_batch : batch_ * shard.world;
  local_batch_ = part_count(global_batch_, shard.world, shard.rank);
  fullest_batch_ = (global_batch_ + shard.world - 1) / shard.world;
}

std::vector<double> Profile::backward_seconds() const {
  if (clock_ == Clock::roofline) return {};
  std::vector<double> seconds;
  for (const Layer& layer : layers_)
    seconds.push_back(layer.backward_seconds * static_cast<double>(fullest_batch_) / static_cast<double>(batch_));
  return seconds;
}

std::string Profile::description() const {
  std::string text = table_->name + " (" + std::to_string(table_->total_parameters()) + " parameters), batch " +
                     std::to_string(batch_) + " a GPU, compute ";
  if (clock_ == Clock::roofline) return text + "by roofline";
  double seconds = 0;
  for (const Layer& layer : layers_) seconds += layer.forward_seconds + layer.backward_seconds;
  return text + format_quantity(seconds, Unit::seconds);
}

void Profile::spend_forward(Device& device) const {
  // Nothing can begin between two layers of forward, so measured seconds are spent in one piece.
  double seconds = 0;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    seconds += layers_[layer].forward_seconds;
    if (clock_ == Clock::roofline) device.charge(roofline(layer, table_->layers[layer].forward_flops, 1));
  }
  seconds = seconds * local_batches() + rest_seconds();
  if (clock_ != Clock::roofline && seconds > 0) device.charge_seconds(seconds);
}

void Profile::spend_backward(Device& device, int first, int last) const {
  double seconds = 0;
  for (int layer = first; layer >= last; --layer) {
    const auto index = static_cast<std::size_t>(layer);
    seconds += layers_[index].backward_seconds;
    if (clock_ == Clock::roofline) device.charge(roofline(index, table_->layers[index].backward_flops, 2));
  }
  if (clock_ != Clock::roofline && seconds > 0) device.charge_seconds(seconds * local_batches());
}

double Profile::local_batches() const { return static_cast<double>(local_batch_) / static_cast<double>(batch_); }

/// A pass reads the layer's parameters and moves each activation in and out.
KernelCost Profile::roofline(std::size_t layer, double flops_a_sample, double passes) const {
  const auto samples = static_cast<double>(local_batch_);
  const double elements = layers_[layer].parameters + 2 * samples * table_->layers[layer].activations;
  return {flops_a_sample * samples, passes * elements * static_cast<double>(size_of(DType::f32))};
}

double Profile::accuracy(Device&, const HostWeights&) { return std::numeric_limits<double>::quiet_NaN(); }

namespace {

const Workloads::Registration registered(
    "profile", {"sizes and times of a network in a table of layers, by path"}, [](Params& params) {
      const std::string path = params.get("file", "", "the table, in CSV");
      return std::make_unique<Profile>(
          path.empty() ? std::make_shared<const ProfileTable>() : shared_profile_table(path), params);
    });

}  // namespace
}  // namespace trigram
