// A model that trains on a profile's clock: a real loss beside the sizes and times of a large network.
#include <utility>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/workloads/networks/tensor_places.hpp"
#include "experiments/workloads/profile.hpp"

namespace trigram {
namespace {

/// What is communicated and updated are the profile's tensors. Each of the model's tensors lies whole in one of them,
/// as tensor_places says, with its own dimensions beside those that cost; the profile's other tensors have no elements
/// and only cost. The model computes in memory of its own at the weights of the forward pass, so that buckets may be
/// updated while backward goes on; its arithmetic and the copies cost no simulated time, which is the profile's alone.
class OnProfile : public Workload {
 public:
  explicit OnProfile(Params& params)
      : model_(Workloads::make(params.get("model", "mlp", "what is computed: (mlp:data=digits)"))) {
    const std::string profile = params.get("profile", "vgg16", "whose sizes and times it has: (vgg16:batch=32)");
    auto made = Workloads::make(profile);
    require(dynamic_cast<Profile*>(made.get()) != nullptr,
            params.owner() + ": profile=" + shown(profile) + " is no profile");
    profile_.reset(static_cast<Profile*>(made.release()));
    require(!model_->phantom() && dynamic_cast<OnProfile*>(model_.get()) == nullptr,
            params.owner() + ": the model must compute gradients of its own; give a model such as mlp");
  }

  void open(const Shard& shard) override {
    model_->open(shard);
    profile_->open({.rank = shard.rank, .world = shard.world});
    place(model_->parameters());
  }

  std::vector<Parameter> parameters() const override { return parameters_; }
  int layers() const override { return profile_->layers(); }
  bool phantom() const override { return false; }
  bool times_update() const override { return profile_->times_update(); }
  std::int64_t global_batch() const override { return model_->global_batch(); }
  std::int64_t local_batch() const override { return model_->local_batch(); }
  std::vector<double> backward_seconds() const override { return profile_->backward_seconds(); }
  double memory() const override { return model_->memory(); }
  std::string description() const override {
    return model_->description() + ": its loss on " + profile_->name() + "'s clock";
  }

  void setup(Worker& worker, std::span<const ParameterView> parameters) override;
  void forward(Worker& worker) override;
  void backward(Worker& worker, int layer) override { backward_through(worker, layer, layer); }
  void backward_through(Worker& worker, int first, int last) override;
  Buffer loss() const override { return model_->loss(); }
  void list_state(State& state) override { model_->list_state(state); }

  std::optional<double> objective(Device& device, const HostWeights& weights) override {
    return model_->objective(device, of_model(weights));
  }
  double accuracy(Device& device, const HostWeights& weights) override {
    return model_->accuracy(device, of_model(weights));
  }

 private:
  /// One of the model's tensors: its place in `parameters_`, and memory that the model computes in.
  struct Placed {
    std::size_t place = 0;
    OwnedBuffer weights = {}, gradients = {};
  };

  void place(const std::vector<Parameter>& tensors);
  HostWeights of_model(const HostWeights& weights) const;

  std::unique_ptr<Workload> model_;
  std::unique_ptr<Profile> profile_;
  std::vector<Parameter> parameters_;  ///< of the profile, with the model's tensors in some
  std::vector<Placed> tensors_;        ///< of the model
  std::vector<ParameterView> views_;
};

void OnProfile::place(const std::vector<Parameter>& tensors) {
  parameters_ = profile_->parameters();
  tensors_.clear();
  for (const std::size_t place : tensor_places(tensors, parameters_, description())) {
    const Parameter& tensor = tensors[tensors_.size()];
    parameters_[place].count = tensor.count;
    parameters_[place].dimensions = tensor.dimensions;
    parameters_[place].decays = tensor.decays;
    tensors_.push_back({place});
  }
}

void OnProfile::setup(Worker& worker, std::span<const ParameterView> parameters) {
  const Device::Uncharged uncharged(worker.device);
  views_.assign(parameters.begin(), parameters.end());
  std::vector<ParameterView> of_model;
  for (Placed& tensor : tensors_) {
    const Shape shape = Shape::of(parameters_[tensor.place].count, DType::f32);
    tensor.weights = worker.device.allocate(shape);
    tensor.gradients = worker.device.allocate(shape);
    of_model.push_back({tensor.weights, tensor.gradients});
  }
  model_->setup(worker, of_model);
  for (const Placed& tensor : tensors_) worker.device.copy(tensor.weights, views_[tensor.place].weights);
}

void OnProfile::forward(Worker& worker) {
  {
    const Device::Uncharged uncharged(worker.device);
    for (const Placed& tensor : tensors_) worker.device.copy(views_[tensor.place].weights, tensor.weights);
    model_->forward(worker);
    for (int layer = model_->layers() - 1; layer >= 0; --layer) model_->backward(worker, layer);
  }
  profile_->spend_forward(worker.device);
}

void OnProfile::backward_through(Worker& worker, int first, int last) {
  profile_->spend_backward(worker.device, first, last);
  const Device::Uncharged uncharged(worker.device);
  for (const Placed& tensor : tensors_) {
    const int layer = parameters_[tensor.place].layer;
    if (last <= layer && layer <= first) worker.device.copy(tensor.gradients, views_[tensor.place].gradients);
  }
}

Workload::HostWeights OnProfile::of_model(const HostWeights& weights) const {
  HostWeights tensors;
  for (const Placed& tensor : tensors_) tensors.push_back(weights[tensor.place]);
  return tensors;
}

const Workloads::Registration registered("on_profile", {"a model's loss on a profile's clock"},
                                         [](Params& params) { return std::make_unique<OnProfile>(params); });

}  // namespace
}  // namespace trigram
