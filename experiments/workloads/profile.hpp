// A network's sizes and times without its arithmetic.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/registry/params.hpp"
#include "core/step/workload.hpp"
#include "experiments/workloads/profile_table.hpp"

namespace trigram {

/// A profile: phantom parameters, and compute that only takes time. Time comes from the table's measured layers, from
/// one measured (or given) compute time of a step, spread over layers by their measured times, else by their FLOPs with
/// `forward_fraction` of it in forward, or from the roofline of the modelled GPU. Measured time grows in proportion to
/// the samples of a GPU, but for the table's `rest`, which a step begins with: between the last step's update and
/// forward nothing can be communicated.
class Profile : public Workload {
 public:
  /// Declares batch, compute, rest and forward_fraction. A table without layers or without time is allowed until
  /// `open`.
  Profile(std::shared_ptr<const ProfileTable> table, Params& params);

  const std::string& name() const { return table_->name; }
  /// Takes the time of the whole forward pass.
  void spend_forward(Device& device) const;
  /// Takes the time of the backward pass from layer `first` down to `last`.
  void spend_backward(Device& device, int first, int last) const;

  void open(const Shard& shard) override;
  std::vector<Parameter> parameters() const override { return table_->parameters; }
  int layers() const override { return static_cast<int>(table_->layers.size()); }
  bool phantom() const override { return true; }
  bool times_update() const override { return clock_ == Clock::measured_step || rest_seconds() > 0; }
  std::int64_t global_batch() const override { return global_batch_; }
  std::int64_t local_batch() const override { return local_batch_; }
  std::vector<double> backward_seconds() const override;
  std::string description() const override;

  void setup(Worker&, std::span<const ParameterView>) override {}
  void forward(Worker& worker) override { spend_forward(worker.device); }
  void backward(Worker& worker, int layer) override { backward_through(worker, layer, layer); }
  void backward_through(Worker& worker, int first, int last) override { spend_backward(worker.device, first, last); }
  Buffer loss() const override { return {}; }
  std::optional<double> objective(Device&, const HostWeights&) override { return std::nullopt; }
  double accuracy(Device&, const HostWeights&) override;

 private:
  /// How layers get their time; a table may know none, and is of use with one that is given.
  enum class Clock : std::uint8_t { measured_layers, measured_step, roofline, unknown };

  /// What one layer takes of `batch_` samples, and the parameters that it reads.
  struct Layer {
    double forward_seconds = 0, backward_seconds = 0;
    double parameters = 0;
  };

  /// What was measured beside forward and backward; 0 where measured times are not those of the clock.
  double rest_seconds() const { return clock_ == Clock::roofline ? 0 : rest_; }
  void choose_clock(const std::string& compute, const Params& params);
  void take_measured_layers(double seconds);
  void spread_over_layers();
  /// This rank's batch over the one that times are for.
  double local_batches() const;
  KernelCost roofline(std::size_t layer, double flops_a_sample, double passes) const;

  std::shared_ptr<const ProfileTable> table_;  ///< of all ranks
  std::vector<Layer> layers_;
  std::int64_t batch_;
  Clock clock_ = Clock::roofline;
  double step_seconds_ = 0;  ///< of `batch_` samples
  double rest_ = 0;
  double forward_fraction_;
  std::int64_t global_batch_ = 0;
  std::int64_t local_batch_ = 0, fullest_batch_ = 0;
};

}  // namespace trigram
