#include "core/outside_algorithm.hpp"

#include <utility>

#include "core/error.hpp"
#include "core/quoted.hpp"

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

}  // namespace

const std::span<Bucket>& OutsideLane::buckets() const { return algorithm_.buckets_; }

Communicator& OutsideLane::group(const std::string& name) {
  if (name == "all") return worker_.comm;
  if (name == "node") return worker_.node;
  require(name == "leaders", "no group is called ", Quoted(name), "; there are all, node and leaders");
  return worker_.leaders;
}

void OutsideLane::start(int bucket, std::int64_t number) {
  const int lane = bucket < 0 ? worker_.background_lane() : worker_.bucket_lane(bucket);
  algorithm_.begun_[number] = worker_.start(lane, [&algorithm = algorithm_, bucket, number](Worker& own) {
    OutsideLane outside(own, algorithm);
    if (bucket < 0) return algorithm.code_->body(outside, number);
    const Timeline::ForBucket of_this_one(own.timeline, bucket);
    algorithm.code_->body(outside, number);
  });
}

void OutsideLane::wait(std::int64_t number) {
  const auto found = algorithm_.begun_.find(number);
  if (found == algorithm_.begun_.end()) return;
  Pending pending = std::move(found->second);
  algorithm_.begun_.erase(found);
  pending.wait();
}

bool OutsideLane::done(std::int64_t number) {
  const auto found = algorithm_.begun_.find(number);
  return found == algorithm_.begun_.end() || found->second.done();
}

OutsideAlgorithm::OutsideAlgorithm(Params& params, std::shared_ptr<OutsideCode> code)
    : trigram_(read_trigram(params)),
      deterministic_(params.get("deterministic", true, "whether results do not depend on timing")),
      local_updates_(
          params.get("local_updates", false, "whether a bucket is updated as soon as its gradient is there")),
      uses_optimizer_(params.get("uses_optimizer", true, "whether an optimizer steps the weights")),
      code_(std::move(code)) {
  params.get("name", "", "what its code calls it");
}

Refusal OutsideAlgorithm::refuses(Option option) const {
  if (option == Option::overlap) return {};
  return "its code says itself which ranks exchange, those of worker.node or worker.leaders too";
}

void OutsideAlgorithm::check(const CostQuery& query) const {
  code_->open();
  require(query.gradients == DType::f32, "gradients in ", name_of(query.gradients),
          " are what methods of this library send; code in another language sends what its own tensors hold: leave "
          "--gradients out, and send tensors of that type");
  for (const BucketLayout& bucket : query.buckets) {
    require(bucket.shape.count == bucket.shape.modelled_count, "bucket ", bucket.tensors.front().name, " has ",
            bucket.shape.count, " elements and costs as much as ", bucket.shape.modelled_count,
            ", and code in another language costs what its own tensors do; give the model's own clock, as \"flops\" "
            "or seconds");
  }
}

void OutsideAlgorithm::setup(Worker& worker, std::span<Bucket> buckets) {
  buckets_ = buckets;
  tell(worker, "setup");
}

void OutsideAlgorithm::finish(Worker& worker) {
  tell(worker, "finish");
  for (auto& [number, pending] : begun_) pending.wait();
  begun_.clear();
}

void OutsideAlgorithm::tell(Worker& worker, const char* moment, int bucket) {
  OutsideLane lane(worker, *this);
  code_->moment(lane, moment, bucket);
}

}  // namespace trigram
