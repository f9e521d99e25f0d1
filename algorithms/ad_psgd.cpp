// Asynchronous decentralized SGD (AD-PSGD): ranks mix their models in pairs while they train; nobody waits for a slow
// one. An even rank is active: before forward it sends its weights to a random odd neighbour, which averages them with
// its own and replies with the average; that hides behind forward and backward. An odd rank is passive: it serves a
// copy of its weights whenever it is asked, and adds its own updates after each step. So no two ranks wait for each
// other. Both of a pair then hold (x_i + x_j)/2: mixing never moves the mean over ranks.
//   rounds 1 and bytes S an active rank and step, and the same for each reply of a passive one.
#include "core/bucketwise.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "core/service.hpp"
#include "core/topology.hpp"

namespace trigram {
namespace {

bool is_active(int rank) { return rank % 2 == 0; }

class AdPsgd final : public Algorithm, private Service {
 public:
  explicit AdPsgd(Params& params) : topology_(params.get("topology", "complete", "whom an even rank may ask")) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }
  bool deterministic() const override { return false; }
  bool asks() const override { return true; }
  std::vector<std::string> trials() const override { return {"", "topology=ring"}; }
  Refusal refuses(Option option) const override { return option == Option::overlap ? "" : "pairs are of any nodes"; }

  /// Of an active rank's step, and of one reply: how many a passive rank gives is up to those who ask.
  Cost cost(const CostQuery& query) const override {
    if (query.place.ranks == 1) return {};
    return sum_over_buckets(query, [](const Shape& bucket) {
      return Cost{1, bucket.modelled_count * size_of(bucket.dtype)};
    });
  }

  void check(const CostQuery& query) const override {
    for (int rank = 0; rank < query.place.ranks; ++rank) partners(query.place.ranks, rank);
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    buckets_ = buckets;
    for (const Bucket& bucket : buckets) {
      worker.device.copy(bucket.weights, shared_.emplace_back(worker.device.allocate(bucket.weights.shape())));
      worker.device.copy(bucket.weights, before_.emplace_back(worker.device.allocate(bucket.weights.shape())));
    }
    if (!is_active(worker.rank())) return serving_.begin(worker, this);
    partners_ = partners(worker.world(), worker.rank());
    serving_.begin(worker);
  }

  void before_forward(Worker& worker) override {
    if (partners_.empty()) return;
    const int peer = partners_[Philox(worker.key(0, Phase::topology)).below(0, partners_.size())];
    for (const Bucket& bucket : buckets_) {
      const Buffer mixed = shared(bucket.index);
      worker.device.copy(bucket.weights, mixed);
      pending_.start(worker, bucket,
                     [ask_for = Ask{peer, bucket.index, mixed, mixed}](Worker& lane) { ask(lane, ask_for); });
    }
  }

  void before_update(Worker& worker) override {
    if (partners_.empty()) return;
    pending_.wait();
    for (const Bucket& bucket : buckets_) worker.device.copy(shared(bucket.index), bucket.weights);
  }

  void after_step(Worker& worker) override {
    if (is_active(worker.rank())) return;
    // What this rank learned in the step joins what others have mixed in meanwhile.
    serving_.exclusively(worker, [&] {
      for (const Bucket& bucket : buckets_) {
        const Buffer own = shared(bucket.index), before = before_[static_cast<std::size_t>(bucket.index)];
        worker.device.weighted_sum(std::array{own, bucket.weights, before}, std::array{1.0F, 1.0F, -1.0F}, own);
        worker.device.copy(own, bucket.weights);
        worker.device.copy(own, before);
      }
    });
  }
  void finish(Worker& worker) override {
    serving_.end(worker);
    after_step(worker);
  }
  void list_state(State& state) override { state.buffers("shared", shared_).buffers("before", before_); }

 private:
  std::vector<int> partners(int ranks, int rank) const {
    const auto graph = make_topology(topology_, ranks);
    std::vector<int> peers = graph->sends_to(rank, 0);
    std::erase_if(peers, [rank](int peer) { return is_active(peer) == is_active(rank); });
    require(ranks == 1 || (graph->period() == 1 && !peers.empty()), "algorithm 'ad_psgd': topology ", topology_, " of ",
            ranks, " ranks changes with steps or joins rank ", rank, " with none of the other parity; take complete");
    return peers;
  }
  void take(Worker& lane, const Request& request) override {
    const Buffer own = shared(request.subject);
    lane.device.weighted_sum(std::array{own, request.content.view()}, std::array{0.5F, 0.5F}, own);
  }
  std::optional<Buffer> give(Worker&, const Request& request) override { return shared(request.subject); }
  Buffer shared(int bucket) const { return shared_[static_cast<std::size_t>(bucket)]; }

  std::string topology_;
  std::vector<int> partners_;  ///< whom this rank asks; none on a passive one
  std::span<Bucket> buckets_;
  std::vector<OwnedBuffer> shared_;  ///< what an active rank sends and receives, and a passive one serves
  std::vector<OwnedBuffer> before_;  ///< weights of a passive rank as its step found them
  PendingBuckets pending_;
  Serving serving_;
};

const Algorithms::Registration registration(
    "ad_psgd",
    {"average with a random rank that trains meanwhile",
     "Lian et al., Asynchronous decentralized parallel SGD, ICML 2018, arXiv:1710.06952"},
    [](Params& params) { return std::make_unique<AdPsgd>(params); });

}  // namespace
}  // namespace trigram
