#include "core/step/training_step.hpp"

#include <utility>

#include "core/values/error.hpp"

namespace trigram {
namespace {

bool same_view(const Buffer& a, const Buffer& b) {
  return a.count() == b.count() && a.is_phantom() == b.is_phantom() && (a.is_phantom() || a.raw() == b.raw());
}

}  // namespace

TrainingStep::Parts TrainingStep::make_parts(const std::string& algorithm, const std::string& optimizer) {
  Parts parts;
  parts.algorithm = Algorithms::make(algorithm);
  if (parts.algorithm->uses_optimizer())
    parts.optimizer = Optimizers::make(optimizer.empty() ? default_optimizer : optimizer);
  return parts;
}

TrainingStep::TrainingStep(Worker& worker, std::span<Bucket> buckets, Parts parts)
    : worker_(worker),
      buckets_(buckets),
      algorithm_(std::move(parts.algorithm)),
      optimizer_(std::move(parts.optimizer)),
      update_is_timed_(parts.update_is_timed),
      order_(worker.runtime().rank(), buckets,
             loop_updates() ? "'updated', when the loop's optimizer has stepped," : "'update'") {
  require(optimizer_ == nullptr || algorithm_->uses_optimizer(),
          "the algorithm updates weights by itself, so that an optimizer would do nothing; leave it out");
  worker_.say_where(Worker::before_the_first_step);
}

bool TrainingStep::only_serves() const {
  return worker_.rank() >= worker_.world_size() - algorithm_->servers(worker_.world_size());
}

void TrainingStep::setup(std::int64_t steps) {
  worker_.runtime().take_turn();
  order_.enter(Hook::setup);
  worker_.steps = steps;
  algorithm_->setup(worker_, buckets_);
  if (!only_serves() && algorithm_->uses_optimizer()) set_up_optimizer();
  leave();
}

void TrainingStep::set_up_optimizer() {
  std::vector<Bucket> all;
  for (const Bucket& bucket : buckets_) {
    stepped_.push_back(algorithm_->stepped(worker_, bucket));
    if (loop_updates()) require_whole(bucket);
    if (stepped_.back()) all.push_back(*stepped_.back());
  }
  if (optimizer_ != nullptr) optimizer_->setup(worker_, all);
}

void TrainingStep::require_whole(const Bucket& bucket) const {
  const std::optional<Bucket>& stepped = stepped_.back();
  require(stepped && same_view(stepped->weights, bucket.weights) && same_view(stepped->gradients, bucket.gradients),
          "the algorithm wants an optimizer that steps only a part of bucket ", bucket.index,
          ", or along another direction than its gradients, which the loop's own cannot do; train it where Trigram's "
          "optimizers step the weights, as `trigram run` has it, or "
          "trigram.simulate(…, optimizer=\"sgd\") for a model of PyTorch");
}

void TrainingStep::begin(std::int64_t step, double learning_rate) {
  worker_.runtime().take_turn();
  ensure(!only_serves(), "rank ", worker_.runtime().rank(), " only serves, and has no step ", step,
         " to begin; call 'finish' after 'setup'");
  order_.enter_begin(step);
  worker_.step = step;
  in_step_.emplace(worker_);
  worker_.say_where(step);
  worker_.learning_rate = learning_rate;
  algorithm_->before_forward(worker_);
  leave();
}

void TrainingStep::tensor_ready(int parameter) {
  worker_.runtime().take_turn();
  order_.enter_tensor(parameter);
  start_complete_buckets();
}

void TrainingStep::bucket_ready(int index) {
  worker_.runtime().take_turn();
  order_.enter_bucket(index);
  start_complete_buckets();
}

void TrainingStep::rest_ready() {
  worker_.runtime().take_turn();
  order_.enter_rest();
  start_complete_buckets();
}

void TrainingStep::start_complete_buckets() {
  while (const std::optional<std::size_t> index = order_.take_complete()) {
    Bucket& bucket = buckets_[*index];
    {
      const Timeline::ForBucket of_this_one(worker_.timeline, bucket.index);
      worker_.device.round_to(worker_.relaxation.gradients, bucket.gradients);
      algorithm_->gradients_ready(worker_, bucket);
    }
    if (updates_early()) update(bucket);
  }
  leave();
}

void TrainingStep::before_update() {
  worker_.runtime().take_turn();
  order_.enter(Hook::before_update);
  algorithm_->before_update(worker_);
  leave();
}

void TrainingStep::update() {
  worker_.runtime().take_turn();
  ensure(
      !loop_updates(),
      "'update' was called, but this object has no optimizer: let the loop's own optimizer step, then call 'updated'");
  order_.enter(Hook::update);
  if (!updates_early()) {
    for (Bucket& bucket : buckets_) update(bucket);
  }
  leave();
}

void TrainingStep::updated() {
  worker_.runtime().take_turn();
  ensure(loop_updates(), "'updated' was called, but this object steps the weights: call 'update'");
  order_.enter(Hook::update);
  for (Bucket& bucket : buckets_) update(bucket);
  leave();
}

void TrainingStep::end() {
  worker_.runtime().take_turn();
  order_.enter(Hook::end);
  algorithm_->after_step(worker_);
  worker_.device.charge_host(HostWork::step);
  worker_.runtime().step_ends();
  in_step_.reset();
  leave();
}

void TrainingStep::finish() {
  worker_.runtime().take_turn();
  order_.enter(Hook::finish);
  algorithm_->finish(worker_);
  leave();
}

void TrainingStep::leave() {
  order_.leave();
  worker_.runtime().give_turn();
}

void TrainingStep::quiesce() {
  worker_.runtime().take_turn();
  order_.require_between_steps("'quiesce'");
  algorithm_->quiesce(worker_);
  worker_.runtime().barrier_with_all_there();
  worker_.runtime().give_turn();
}

void TrainingStep::global_weights() {
  worker_.runtime().take_turn();
  order_.require_between_steps("'global_weights'");
  for (Bucket& bucket : buckets_) algorithm_->global_weights(worker_, bucket);
  worker_.runtime().give_turn();
}

void TrainingStep::list_state(State& state) {
  worker_.runtime().take_turn();
  order_.require_between_steps("'list_state'");
  state.of("algorithm", *algorithm_);
  if (!stepped_.empty() && optimizer_ != nullptr) state.of("optimizer", *optimizer_);
  worker_.runtime().give_turn();
}

void TrainingStep::abandon() noexcept {
  order_.abandon();
  worker_.runtime().stop_lanes();
}

bool TrainingStep::updates_early() const {
  const Relaxation& run = worker_.relaxation;
  return run.overlap && run.optimizer_in_backward && algorithm_->local_updates() && !loop_updates();
}

void TrainingStep::update(Bucket& bucket) {
  const Timeline::ForBucket of_this_one(worker_.timeline, bucket.index);
  change_weights(bucket);
  algorithm_->after_update(worker_, bucket);
}

void TrainingStep::change_weights(Bucket& bucket) {
  std::optional<Device::Uncharged> in_the_profile;
  if (update_is_timed_) in_the_profile.emplace(worker_.device);
  if (optimizer_ != nullptr) {
    const std::optional<Bucket>& stepped = stepped_[static_cast<std::size_t>(bucket.index)];
    if (stepped) optimizer_->update(worker_, *stepped, worker_.learning_rate);
  }
  algorithm_->update(worker_, bucket);
}

}  // namespace trigram
