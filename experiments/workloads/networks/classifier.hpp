// A feed-forward network that learns a labelled data set: softmax regression, multilayer perceptrons, convolutions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/registry/params.hpp"
#include "core/step/operation.hpp"
#include "core/step/workload.hpp"
#include "experiments/workloads/data/batches.hpp"
#include "experiments/workloads/data/dataset.hpp"
#include "experiments/workloads/networks/network.hpp"
#include "experiments/workloads/networks/network_score.hpp"

namespace trigram {

/// Cross-entropy of a network's softmax. Each step's batch is put together on the host from samples that all ranks of
/// the process share, and uploaded: no rank, simulated or on a GPU, holds a data set of its own, and a batch is small
/// beside the gradients that follow it. Uploads cost no simulated time, as a loader that works ahead would not.
class Classifier : public Workload {
 public:
  /// Declares data, batch and score_samples; `make` gives the network, one for training and one for each score.
  Classifier(std::string name, MakeNetwork make, Params& params);

  void open(const Shard& shard) override;
  std::vector<Parameter> parameters() const override { return network_->parameters(); }
  int layers() const override { return network_->layers(); }
  bool phantom() const override { return false; }
  std::int64_t global_batch() const override { return global_batch_; }
  double memory() const override;
  std::int64_t local_batch() const override { return batches_->local_batch(); }
  std::string description() const override { return name_ + " " + network_->shape() + " on " + dataset_->name; }

  void setup(Worker& worker, std::span<const ParameterView> parameters) override;
  void forward(Worker& worker) override;
  void backward(Worker& worker, int layer) override;
  Buffer loss() const override { return loss_; }

  std::optional<double> objective(Device& device, const HostWeights& weights) override;
  double accuracy(Device& device, const HostWeights& weights) override;

 private:
  SampleRange held_out() const;
  NetworkScore score(Device& device, const HostWeights& weights, const SampleRange& range) const;
  void load_batch(Device& device, std::int64_t step);

  std::string name_, data_;
  MakeNetwork make_;
  std::int64_t batch_, score_samples_;

  std::shared_ptr<const Dataset> dataset_;
  Shard shard_;
  std::int64_t global_batch_ = 0;
  std::int64_t trained_ = 0;  ///< training samples before the held-out ones
  std::unique_ptr<Batches> batches_;
  std::unique_ptr<Network> network_;

  std::vector<ParameterView> views_;
  std::vector<std::size_t> layer_begins_;  ///< the first view of each layer, and behind the last one
  std::vector<Buffer> weights_;
  OwnedBuffer labels_, loss_;
  std::optional<AppliedOperation> cross_entropy_;  ///< of a local batch
  std::vector<float> host_features_;
  std::vector<std::int32_t> host_labels_;
};

}  // namespace trigram
