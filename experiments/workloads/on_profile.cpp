// A model that trains on a profile's clock: a real loss beside the sizes and times of a large network.
#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "experiments/workloads/profile.hpp"

namespace trigram {
namespace {

/// The model's parameters, end to end, are cut in proportion to the profile's tensors: tensor i of P_i of P parameters
/// holds elements ⌊M·ΣP_{<i}/P⌋ … ⌊M·ΣP_{≤i}/P⌋ of the model's M. What is communicated and updated are the profile's
/// tensors, with few real elements that cost like many. The model computes in flat memory of its own at the weights of
/// the forward pass, so that buckets may be updated while backward goes on; its arithmetic and the copies cost no
/// simulated time, which is the profile's alone. A slice decays if any of the model's parameters in it does.
class OnProfile : public Workload {
 public:
  explicit OnProfile(Params& params)
      : model_(Workloads::make(params.get("model", "mlp", "what is computed: (mlp:data=digits)"))) {
    const std::string profile = params.get("profile", "vgg16", "whose sizes and times it has: (vgg16:batch=32)");
    auto made = Workloads::make(profile);
    require(dynamic_cast<Profile*>(made.get()) != nullptr, params.owner() + ": profile=" + profile + " is no profile");
    profile_.reset(static_cast<Profile*>(made.release()));
    require(!model_->phantom() && dynamic_cast<OnProfile*>(model_.get()) == nullptr,
            params.owner() + ": the model must compute gradients of its own; give a model such as mlp");
  }

  void open(const Shard& shard) override {
    model_->open(shard);
    profile_->open({.rank = shard.rank, .world = shard.world});
    tensors_ = model_->parameters();
    cut();
  }

  std::vector<Parameter> parameters() const override { return slices_; }
  int layers() const override { return profile_->layers(); }
  bool phantom() const override { return false; }
  bool times_update() const override { return profile_->times_update(); }
  std::int64_t global_batch() const override { return model_->global_batch(); }
  std::int64_t local_batch() const override { return model_->local_batch(); }
  double memory() const override { return model_->memory(); }
  std::string description() const override {
    return model_->description() + ": its loss on " + profile_->name() + "'s clock";
  }

  void setup(Worker& worker, std::span<const ParameterView> parameters) override;
  void forward(Worker& worker) override;
  void backward(Worker& worker, int layer) override;
  Buffer loss() const override { return model_->loss(); }

  std::optional<double> objective(Device& device, const HostWeights& weights) override {
    return model_->objective(device, of_model(weights));
  }
  double accuracy(Device& device, const HostWeights& weights) override {
    return model_->accuracy(device, of_model(weights));
  }

 private:
  void cut();
  Buffer slice(const OwnedBuffer& flat, std::size_t index) const {
    return flat.view().slice(offsets_[index], slices_[index].count);
  }
  HostWeights of_model(const HostWeights& weights) const;

  std::unique_ptr<Workload> model_;
  std::unique_ptr<Profile> profile_;
  std::vector<Parameter> tensors_;     ///< of the model
  std::vector<Parameter> slices_;      ///< of the profile, with their part of the model
  std::vector<std::int64_t> offsets_;  ///< of the slices in the model
  std::vector<ParameterView> views_;
  OwnedBuffer weights_, gradients_;
};

void OnProfile::cut() {
  std::vector<bool> decays;
  for (const Parameter& tensor : tensors_)
    decays.insert(decays.end(), static_cast<std::size_t>(tensor.count), tensor.decays);
  slices_ = profile_->parameters();
  offsets_.clear();
  std::int64_t total = 0;
  for (const Parameter& slice : slices_) total += slice.modelled_count;
  const auto position = [&](std::int64_t modelled) {
    __extension__ using Wide = __int128;
    return static_cast<std::int64_t>(static_cast<Wide>(modelled) * static_cast<Wide>(decays.size()) / total);
  };
  std::int64_t modelled = 0;
  for (Parameter& slice : slices_) {
    offsets_.push_back(position(modelled));
    modelled += slice.modelled_count;
    slice.count = position(modelled) - offsets_.back();
    const auto begin = decays.begin() + offsets_.back();
    slice.decays = std::find(begin, begin + slice.count, true) != begin + slice.count;
  }
}

void OnProfile::setup(Worker& worker, std::span<const ParameterView> parameters) {
  const Device::Uncharged uncharged(worker.device);
  views_.assign(parameters.begin(), parameters.end());
  std::int64_t total = 0;
  for (const Parameter& tensor : tensors_) total += tensor.count;
  weights_ = worker.device.allocate(Shape::of(total, DType::f32));
  gradients_ = worker.device.allocate(Shape::of(total, DType::f32));
  std::vector<ParameterView> of_model;
  std::int64_t offset = 0;
  for (const Parameter& tensor : tensors_) {
    of_model.push_back({weights_.view().slice(offset, tensor.count), gradients_.view().slice(offset, tensor.count)});
    offset += tensor.count;
  }
  model_->setup(worker, of_model);
  for (std::size_t i = 0; i < slices_.size(); ++i) worker.device.copy(slice(weights_, i), views_[i].weights);
}

void OnProfile::forward(Worker& worker) {
  {
    const Device::Uncharged uncharged(worker.device);
    for (std::size_t i = 0; i < slices_.size(); ++i) worker.device.copy(views_[i].weights, slice(weights_, i));
    model_->forward(worker);
    for (int layer = model_->layers() - 1; layer >= 0; --layer) model_->backward(worker, layer);
  }
  profile_->spend_forward(worker.device);
}

void OnProfile::backward(Worker& worker, int layer) {
  profile_->spend_backward(worker.device, layer);
  const Device::Uncharged uncharged(worker.device);
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    if (slices_[i].layer == layer) worker.device.copy(slice(gradients_, i), views_[i].gradients);
  }
}

Workload::HostWeights OnProfile::of_model(const HostWeights& weights) const {
  std::vector<float> flat;
  for (const std::vector<float>& part : weights) flat.insert(flat.end(), part.begin(), part.end());
  HostWeights tensors;
  auto at = flat.begin();
  for (const Parameter& tensor : tensors_) {
    tensors.emplace_back(at, at + tensor.count);
    at += tensor.count;
  }
  return tensors;
}

const Workloads::Registration registered("on_profile", {"a model's loss on a profile's clock"},
                                         [](Params& params) { return std::make_unique<OnProfile>(params); });

}  // namespace
}  // namespace trigram
