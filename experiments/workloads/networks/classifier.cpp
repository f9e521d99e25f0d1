// Training and scoring of classifiers.
#include "experiments/workloads/networks/classifier.hpp"

#include <algorithm>

#include "core/values/error.hpp"
#include "core/values/memory.hpp"

namespace trigram {
namespace {

/// With validation, the last sixth of the training set is held out, as 10,000 of 60,000.
constexpr std::int64_t held_out_part = 6;

}  // namespace

Classifier::Classifier(std::string name, MakeNetwork make, Params& params)
    : name_(std::move(name)),
      data_(params.get("data", "digits", "data set: digits, fashion_mnist, (idx:...) or (csv:...)")),
      make_(std::move(make)),
      batch_(params.get("batch", std::int64_t{256}, "samples a step over all ranks, unless the run says",
                        {1, 1'000'000'000})),
      score_samples_(params.get("score_samples", std::int64_t{0},
                                "the objective is taken over the first so many samples; 0: over all", {.least = 0})) {}

void Classifier::open(const Shard& shard) {
  dataset_ = shared_dataset(data_);
  shard_ = shard;
  require(shard.global_batch >= 0, "a global batch of " + std::to_string(shard.global_batch) + " samples is negative");
  global_batch_ = shard.global_batch > 0 ? shard.global_batch : batch_;
  const std::int64_t all = dataset_->train.count();
  trained_ = shard.validation ? all - all / held_out_part : all;
  require(!shard.validation || trained_ < all, "data set '" + dataset_->name + "' with " + std::to_string(all) +
                                                   " training samples is too small to hold some out");
  batches_ = std::make_unique<Batches>(*dataset_, trained_, shard, global_batch_);
  network_ = make_(*dataset_);
  constexpr double bytes_of_a_parameter = 8;  // a weight and its gradient
  double elements = 0;
  for (const Parameter& parameter : network_->parameters()) elements += static_cast<double>(parameter.count);
  require_memory(bytes_of_a_parameter * elements, "a network of " + number_text(elements) + " parameters");
}

double Classifier::memory() const {
  const double of_a_sample =
      network_->elements_a_sample() + static_cast<double>(dataset_->features);  // and on the host
  return static_cast<double>(size_of(DType::f32)) * static_cast<double>(local_batch()) * of_a_sample;
}

void Classifier::setup(Worker& worker, std::span<const ParameterView> parameters) {
  views_.assign(parameters.begin(), parameters.end());
  weights_.clear();
  const HostWeights initial = network_->initial(shard_.seed);
  for (std::size_t i = 0; i < views_.size(); ++i) {
    weights_.push_back(views_[i].weights);
    worker.device.upload(std::as_bytes(std::span(initial[i])), views_[i].weights);
  }
  layer_begins_.assign(static_cast<std::size_t>(layers()) + 1, views_.size());
  const std::vector<Parameter> named = network_->parameters();
  for (std::size_t i = named.size(); i > 0; --i) layer_begins_[static_cast<std::size_t>(named[i - 1].layer)] = i - 1;
  network_->allocate(worker.device, local_batch(), true);
  labels_ = worker.device.allocate(Shape::of(local_batch(), DType::i32));
  loss_ = worker.device.allocate(Shape::of(1, DType::f32));
  // The mean over ranks of world/global_batch · Σ over the local batch is the mean over the global batch.
  const float scale = static_cast<float>(shard_.world) / static_cast<float>(global_batch_);
  const TensorShapes shapes{{{local_batch(), dataset_->classes}}, {{local_batch()}, DType::i32}};
  cross_entropy_.emplace(worker.device, "cross_entropy:scale=" + number_text(scale), shapes);
}

void Classifier::load_batch(Device& device, std::int64_t step) {
  host_features_.clear();
  host_labels_.clear();
  for (const std::int64_t sample : batches_->indices(step)) {
    const auto row = dataset_->train.features.begin() + sample * dataset_->features;
    host_features_.insert(host_features_.end(), row, row + dataset_->features);
    host_labels_.push_back(dataset_->train.labels[static_cast<std::size_t>(sample)]);
  }
  device.upload(std::as_bytes(std::span(host_features_)), network_->input());
  device.upload(std::as_bytes(std::span(host_labels_)), labels_);
}

void Classifier::forward(Worker& worker) {
  if (local_batch() == 0) return worker.device.fill(loss_, 0);
  load_batch(worker.device, worker.step);
  network_->forward(worker.device, weights_, local_batch());
  const Buffer logits = network_->logits();
  cross_entropy_->forward(worker.device, {.inputs = {logits, labels_}, .outputs = {loss_}, .saved = {logits}});
}

void Classifier::backward(Worker& worker, int layer) {
  const auto index = static_cast<std::size_t>(layer);
  const std::size_t begin = layer_begins_[index];
  const auto own = std::span<const ParameterView>(views_).subspan(begin, layer_begins_[index + 1] - begin);
  if (local_batch() > 0) return network_->backward(worker.device, layer, own);
  for (const ParameterView& parameter : own) worker.device.fill(parameter.gradients, 0);
}

SampleRange Classifier::held_out() const {
  if (shard_.validation) return {dataset_->train, trained_, dataset_->train.count()};
  return {dataset_->test, 0, dataset_->test.count()};
}

NetworkScore Classifier::score(Device& device, const HostWeights& weights, const SampleRange& range) const {
  const std::unique_ptr<Network> network = make_(*dataset_);
  return network_score(device, *network, weights, {dataset_->train, 0, trained_}, range);
}

std::optional<double> Classifier::objective(Device& device, const HostWeights& weights) {
  SampleRange range = shard_.validation ? held_out() : SampleRange{dataset_->train, 0, trained_};
  if (score_samples_ > 0) range.end = std::min(range.end, range.begin + score_samples_);
  return score(device, weights, range).mean_loss;
}

double Classifier::accuracy(Device& device, const HostWeights& weights) {
  return score(device, weights, held_out()).accuracy;
}

}  // namespace trigram
