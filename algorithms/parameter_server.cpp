// Stale-synchronous parameter server: the last `servers` ranks hold the weights, each its part of every bucket, and
// train nothing. The others update their own copy, send what the update changed, divided by their number, and get the
// weights back as they are then. A server adds what comes in the order in which it comes, and holds back its reply to a
// rank that has sent `staleness` updates more than the slowest: whoever begins step t has seen all updates of steps
// before t - staleness. In the end all wait for all, so that their weights are equal.
//   rounds 1 and bytes S per training rank and step; a server sends S/servers to each of them.
#include <algorithm>
#include <limits>

#include "core/lane/service.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class ParameterServer final : public Algorithm, private Service {
 public:
  explicit ParameterServer(Params& params)
      : servers_(params.get("servers", 1, "last ranks, which hold the weights and train nothing", {.least = 1})),
        staleness_(params.get("staleness", 4, "steps that a rank may be ahead of the slowest", {.least = 0})) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  bool deterministic() const override { return false; }
  bool local_updates() const override { return true; }
  bool asks() const override { return true; }
  int servers(int) const override { return servers_; }
  std::vector<std::string> trials() const override { return {"", "servers=2,staleness=0"}; }
  Refusal refuses(Option option) const override {
    return option == Option::overlap ? "" : "each rank talks to the servers directly; leave --hierarchy out";
  }

  /// Of a training rank's step, and of a server's replies to one: how many it gives in a step is up to the clock.
  Cost cost(const CostQuery& query) const override {
    const int server = query.place.rank - (query.place.ranks - servers_);
    return sum_over_buckets(query, [&](const Shape& bucket) {
      const Buffer whole(nullptr, bucket);
      return Cost{1, (server < 0 ? whole : part(whole, server)).modelled_bytes()};
    });
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    buckets_ = buckets;
    training_ = worker.world_size() - servers_;
    server_ = worker.rank() - training_;
    sent_.assign(buckets.size(), std::vector<std::int64_t>(static_cast<std::size_t>(training_), 0));
    if (server_ >= 0) return serving_.begin(worker, this);
    for (const Bucket& bucket : buckets) {
      worker.device.copy(bucket.weights, before_.emplace_back(worker.device.allocate(bucket.weights.shape())));
    }
    serving_.begin(worker);
  }

  void after_update(Worker& worker, Bucket& bucket) override { exchange(worker, bucket, bucket.index); }
  void after_step(Worker& worker) override {
    pending_.wait();
    for (const Bucket& bucket : buckets_) worker.device.copy(bucket.weights, before(bucket));
  }
  void finish(Worker& worker) override {
    for (Bucket& bucket : buckets_) {
      if (server_ < 0) exchange(worker, bucket, bucket.index + static_cast<int>(buckets_.size()));
    }
    pending_.wait();
    serving_.end(worker);
  }
  /// What servers hold is one model, cut anew among those of another number; how far ranks were, which is equally far,
  /// is counted anew.
  void list_state(State& state) override {
    for (const Bucket& bucket : buckets_) {
      const Buffer held = server_ < 0 ? Buffer() : part(bucket.weights, server_);
      state.buffer("held", held, Fate::cut, extent_in(bucket.weights, held));
    }
    state.buffers("before", before_, Fate::balanced).values("sent", sent_, Fate::anew);
  }

 private:
  /// Gradients are free by now, so that the update travels in them.
  void exchange(Worker& worker, Bucket& bucket, int subject) {
    const float share = 1.0F / static_cast<float>(training_);
    worker.device.weighted_sum(std::array{bucket.weights, before(bucket)}, std::array{share, -share}, bucket.gradients);
    pending_.start(worker, bucket, [this, &bucket, subject](Worker& lane) {
      std::vector<Ask> asks;
      for (int server = 0; server < servers_; ++server) {
        asks.push_back({training_ + server, subject, part(bucket.gradients, server), part(bucket.weights, server)});
      }
      ask(lane, asks);
    });
  }

  void take(Worker& lane, const Request& request) override {
    lane.device.axpby(1.0F, request.content, 1.0F, held(request));
    std::int64_t& sent = sent_of(request)[static_cast<std::size_t>(request.asker)];
    sent = is_last(request) ? std::numeric_limits<std::int64_t>::max() : sent + 1;
  }
  std::optional<Buffer> give(Worker&, const Request& request) override {
    const std::vector<std::int64_t>& sent = sent_of(request);
    const std::int64_t ahead =
        sent[static_cast<std::size_t>(request.asker)] - *std::min_element(sent.begin(), sent.end());
    return ahead > staleness_ ? std::nullopt : std::optional(held(request));
  }

  bool is_last(const Request& request) const { return static_cast<std::size_t>(request.subject) >= buckets_.size(); }
  std::size_t bucket_of(const Request& request) const {
    return static_cast<std::size_t>(request.subject) % buckets_.size();
  }
  std::vector<std::int64_t>& sent_of(const Request& request) { return sent_[bucket_of(request)]; }
  Buffer held(const Request& request) const { return part(buckets_[bucket_of(request)].weights, server_); }
  Buffer part(const Buffer& whole, int server) const { return whole.chunk(server, servers_); }
  Buffer before(const Bucket& bucket) const { return before_[static_cast<std::size_t>(bucket.index)]; }

  int servers_;
  std::int64_t staleness_;
  int training_ = 0;
  int server_ = 0;  ///< this rank's place among servers; negative on one that trains
  std::span<Bucket> buckets_;
  std::vector<OwnedBuffer> before_;              ///< weights as a step found them
  std::vector<std::vector<std::int64_t>> sent_;  ///< updates by bucket and training rank, seen by a server
  PendingBuckets pending_;
  Serving serving_;
};

const Algorithms::Registration registration(
    "parameter_server",
    {"send updates to servers, at most so many steps ahead of the slowest",
     "Ho et al., More effective distributed ML via a stale synchronous parallel parameter server, "
     "NeurIPS 2013",
     "Ranks of unequal speed, and hosts that can hold weights and train nothing.",
     "Clusters of equal GPUs, in which servers' NICs are the bottleneck."},
    [](Params& params) { return std::make_unique<ParameterServer>(params); });

}  // namespace
}  // namespace trigram
