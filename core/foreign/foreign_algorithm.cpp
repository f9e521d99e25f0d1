#include "core/foreign/foreign_algorithm.hpp"

#include <sstream>
#include <utility>

#include "core/primitives/centralized.hpp"
#include "core/primitives/gradient_mean.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "core/world/bytes.hpp"

namespace trigram {
namespace {

/// One of two words. Throws UsageError for a third.
bool is_first(Params& params, const char* key, const char* first, const char* second) {
  const std::string given = params.get(key, first, std::string(first) + " or " + second);
  require(given == first || given == second, params.owner(), ": ", key, "=", shown(given), " is not ", first, " or ",
          second);
  return given == first;
}

Trigram read_trigram(Params& params) {
  Trigram read{};
  read.synchrony = is_first(params, "synchrony", "synchronous", "asynchronous") ? Trigram::Synchrony::synchronous
                                                                                : Trigram::Synchrony::asynchronous;
  read.precision = is_first(params, "precision", "full", "low") ? Trigram::Precision::full : Trigram::Precision::low;
  read.centrality = is_first(params, "centrality", "centralized", "decentralized") ? Trigram::Centrality::centralized
                                                                                   : Trigram::Centrality::decentralized;
  return read;
}

/// "update+finish". Empty for "all".
std::set<std::string> read_hooks(Params& params) {
  std::istringstream given(params.get("hooks", "all", "hooks that its class has, as update+finish; or all"));
  std::set<std::string> hooks;
  for (std::string hook; std::getline(given, hook, '+');) hooks.insert(hook);
  if (hooks == std::set<std::string>{"all"}) return {};
  hooks.insert("setup");
  return hooks;
}

using Mean = void (*)(Worker&, Buffer);

/// What exchanges within the run's hierarchy; null for another word.
Mean mean_named(const std::string& collective) {
  static const std::map<std::string, Mean> all{{"mean", centralized_full_precision}, {"gradient_mean", gradient_mean}};
  const auto found = all.find(collective);
  return found == all.end() ? nullptr : found->second;
}

}  // namespace

const std::span<Bucket>& ForeignLane::buckets() const { return algorithm_.buckets_; }

Communicator& ForeignLane::group(const std::string& name) {
  if (name == "all") return worker_.comm;
  if (name == "node") return worker_.node;
  require(name == "leaders", "no group is called ", Quoted(name), "; there are all, node and leaders");
  return worker_.leaders;
}

State& ForeignLane::listing() {
  ensure(listing_ != nullptr, "state is listed in the hook list_state alone");
  return *listing_;
}

void ForeignLane::list(const std::string& name, Fate fate) { coming_ = State::Item{name, fate}; }

std::string ForeignLane::list(const std::string& name, Fate fate, std::string text) {
  listing().packed(
      name, [&] { return bytes_of(text); }, [&](const Bytes& bytes) { text = text_of(bytes); }, fate);
  return text;
}

void ForeignLane::perform(const std::string& group_name, const GroupCall& call) {
  if (group_name == "state") {
    ensure(coming_ && call.buffers.size() == 1, "elements are listed one item after the other, each by its name first");
    listing().buffer(coming_->name, call.buffers.front(), coming_->fate);
    coming_.reset();
    return;
  }
  if (const Mean mean = mean_named(call.collective); mean != nullptr) {
    ensure(call.buffers.size() == 1, call.collective, " takes one buffer, not ", call.buffers.size());
    return mean(worker_, call.buffers.front());
  }
  Communicator& comm = group(group_name);
  trigram::check(comm, call);
  gone_ = trigram::perform(comm, call);
}

void ForeignLane::start(int bucket, std::int64_t number) {
  const int lane = bucket < 0 ? worker_.background_lane() : worker_.bucket_lane(bucket);
  algorithm_.begun_[number] = worker_.start(lane, [&algorithm = algorithm_, bucket, number](Worker& own) {
    ForeignLane foreign(own, algorithm);
    if (bucket < 0) return algorithm.code_->task(foreign, number);
    const Timeline::ForBucket of_this_one(own.timeline, bucket);
    algorithm.code_->task(foreign, number);
  });
}

void ForeignLane::wait(std::int64_t number) {
  const auto found = algorithm_.begun_.find(number);
  if (found == algorithm_.begun_.end()) return;
  Pending pending = std::move(found->second);
  algorithm_.begun_.erase(found);
  pending.wait();
}

bool ForeignLane::done(std::int64_t number) {
  const auto found = algorithm_.begun_.find(number);
  return found == algorithm_.begun_.end() || found->second.done();
}

void ForeignLane::communicates() { algorithm_.communicates_ = true; }

ForeignAlgorithm::Exchanges ForeignAlgorithm::read_exchanges(Params& params) {
  const std::string given = params.get("exchanges", "nothing",
                                       "what it exchanges of each bucket in an ordinary way: "
                                       "gradients, weights, or nothing");
  if (given == "gradients") return Exchanges::gradients;
  if (given == "weights") return Exchanges::weights;
  require(given == "nothing", params.owner(), ": exchanges=", shown(given), " is none of gradients, weights, nothing");
  return Exchanges::nothing;
}

ForeignAlgorithm::ForeignAlgorithm(Params& params, std::shared_ptr<ForeignCode> code)
    : trigram_(read_trigram(params)),
      deterministic_(params.get("deterministic", true, "whether results do not depend on timing")),
      local_updates_(
          params.get("local_updates", false, "whether a bucket is updated as soon as its gradient is there")),
      uses_optimizer_(params.get("uses_optimizer", true, "whether an optimizer steps the weights")),
      hierarchical_(params.get("hierarchical", false, "whether its exchanges follow the run's hierarchy")),
      bears_absence_(params.get("bears_absence", false, "whether each exchange in a step leaves out who is gone")),
      exchanges_(read_exchanges(params)),
      hooks_(read_hooks(params)),
      code_(std::move(code)) {
  params.get("name", "", "what its code calls it");
}

Refusal ForeignAlgorithm::refuses(Option option) const {
  if (hierarchical_ || option == Option::overlap) return {};
  return "its code has not said that its exchanges follow a hierarchy; let them be worker.mean, worker.gradient_mean "
         "or worker.hierarchical, and say hierarchical = True in the class";
}

void ForeignAlgorithm::setup(Worker& worker, std::span<Bucket> buckets) {
  buckets_ = buckets;
  main_ = &worker;
  tell(worker, "setup");
}

void ForeignAlgorithm::finish(Worker& worker) {
  tell(worker, "finish");
  for (auto& [number, pending] : begun_) pending.wait();
  begun_.clear();
}

void ForeignAlgorithm::list_state(State& state) {
  // Code of which nobody knows the hooks, as that of "hooks=all", lists nothing.
  if (!hooks_.contains("list_state")) return;
  ensure(main_ != nullptr, "state was listed before 'setup'");
  ForeignLane lane(*main_, *this, &state);
  code_->hook(lane, "list_state", -1);
}

void ForeignAlgorithm::gradients_ready(Worker& worker, Bucket& bucket) {
  if (exchanges_ == Exchanges::gradients) start_exchange(worker, bucket);
  tell(worker, "gradients_ready", bucket.index);
}

void ForeignAlgorithm::before_update(Worker& worker) {
  if (exchanges_ == Exchanges::gradients) pending_.wait();
  tell(worker, "before_update");
}

void ForeignAlgorithm::after_update(Worker& worker, Bucket& bucket) {
  if (exchanges_ == Exchanges::weights && communicates(worker)) start_exchange(worker, bucket);
  tell(worker, "after_update", bucket.index);
}

void ForeignAlgorithm::after_step(Worker& worker) {
  if (exchanges_ == Exchanges::weights) pending_.wait();
  tell(worker, "after_step");
}

void ForeignAlgorithm::start_exchange(Worker& worker, Bucket& bucket) {
  pending_.start(worker, bucket, [this, index = bucket.index](Worker& own) {
    ForeignLane lane(own, *this);
    code_->exchange(lane, index);
  });
}

bool ForeignAlgorithm::communicates(Worker& worker) {
  if (asked_in_step_ != worker.step) {
    asked_in_step_ = worker.step;
    communicates_ = false;
    tell(worker, "communicates");
  }
  return communicates_;
}

void ForeignAlgorithm::tell(Worker& worker, const std::string& hook, int bucket) {
  if (!hooks_.empty() && !hooks_.contains(hook)) return;
  ForeignLane lane(worker, *this);
  code_->hook(lane, hook, bucket);
}

}  // namespace trigram
