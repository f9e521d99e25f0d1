// BytePS: every bucket's gradient is cut into partitions, each of which goes whole to one server and comes back as the
// mean. Servers are the ranks of the group themselves, or the nodes. Partitions go in the order in which
// backward finishes them, as many at a time as the run has lanes: that times `partition` is BytePS's credit, the bytes
// in flight. Their order decides nothing, since the update waits for all.
//   rounds 2 per partition, bytes S/n · 2(n−1) per rank where each serves as many; overlaps with the rest of backward.
//   One lane: a server's link at a time, 2(n−1) S β in all. Lanes a multiple of n: all links, 2(n−1)/n S β.
#include <algorithm>
#include <vector>

#include "core/lane/hierarchy.hpp"
#include "core/primitives/gradient_mean.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

/// x ← mean over the group, added up where `server` is, in the order of the ranks after it.
void mean_at(Worker& lane, Communicator& group, Buffer x, int server) {
  const int n = group.size();
  if (n == 1) return;
  if (group.rank() != server) {
    group.exchange({Transfer::send_to(server, x)});
    return group.exchange({Transfer::receive_from(server, x)});
  }
  std::vector<OwnedBuffer> pushed;
  std::vector<Transfer> push, pull;
  for (int distance = 1; distance < n; ++distance) {
    const int other = (server + distance) % n;
    push.push_back(Transfer::receive_from(other, pushed.emplace_back(lane.device.allocate_unfilled(x.shape()))));
    pull.push_back(Transfer::send_to(other, x));
  }
  group.exchange(push);
  {
    const Device::Uncharged as_in_collectives(lane.device);
    for (const OwnedBuffer& one : pushed) lane.device.reduce(ReduceOp::sum, one, x);
    lane.device.scale(x, 1.0F / static_cast<float>(n));
  }
  group.exchange(pull);
}

Cost mean_at_cost(int ranks, int rank, int server, std::int64_t bytes) {
  if (ranks == 1) return {};
  return {2, (rank == server ? ranks - 1 : 1) * bytes};
}

class PushPull final : public Algorithm {
 public:
  explicit PushPull(Params& params)
      : partition_(static_cast<std::int64_t>(
            params.get("partition", "4096kB", Unit::bytes, "a bucket is cut into pieces no longer than that"))) {
    require(partition_ >= 1, params.owner(), ": partition=", partition_, " bytes; give 1 or more");
  }

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  std::vector<std::string> trials() const override { return {"", "partition=16B"}; }

  Cost cost(const CostQuery& query) const override {
    const std::int64_t element = size_of(query.gradients);
    std::vector<std::int64_t> counts;
    for (const BucketLayout& bucket : query.buckets) counts.push_back(bucket.shape.modelled_count);
    const Plan plan = plan_of(counts, element, vertices(query).count);
    Cost all;
    for (std::size_t number = 0; number < plan.server.size(); ++number) {
      all += hierarchical_cost(query.hierarchy, query.place, plan.elements[number], element,
                               [&](int ranks, int rank, std::int64_t elements) {
                                 return mean_at_cost(ranks, rank, plan.server[number], elements * element);
                               });
    }
    return all;
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    std::vector<std::int64_t> counts;
    for (const Bucket& bucket : buckets) counts.push_back(bucket.gradients.modelled_count());
    plan_ = plan_of(counts, size_of(worker.relaxation.gradients), vertices(worker).count);
  }

  void gradients_ready(Worker& worker, Bucket& bucket) override {
    const int first = plan_.first[static_cast<std::size_t>(bucket.index)];
    const int count = plan_.first[static_cast<std::size_t>(bucket.index) + 1] - first;
    for (int i = 0; i < count; ++i) start(worker, bucket, bucket.gradients.chunk(i, count), first + i);
  }

  void before_update(Worker&) override {
    for (Pending& pending : pending_) pending.wait();
    pending_.clear();
  }

 private:
  /// Partitions of all buckets, back to back.
  struct Plan {
    std::vector<int> first = {0};  ///< of each bucket, and after the last
    std::vector<std::int64_t> elements;
    std::vector<int> server;
  };

  /// A partition goes to the server that has least so far, the first of those.
  Plan plan_of(std::span<const std::int64_t> buckets, std::int64_t element_bytes, int servers) const {
    Plan plan;
    std::vector<std::int64_t> load(static_cast<std::size_t>(servers), 0);
    for (const std::int64_t elements : buckets) {
      const std::int64_t pieces = std::max<std::int64_t>(1, (elements * element_bytes + partition_ - 1) / partition_);
      for (int i = 0; i < static_cast<int>(pieces); ++i) {
        plan.elements.push_back(chunk_count(elements, static_cast<int>(pieces), i));
        const auto least = std::ranges::min_element(load);
        *least += plan.elements.back();
        plan.server.push_back(static_cast<int>(least - load.begin()));
      }
      plan.first.push_back(static_cast<int>(plan.server.size()));
    }
    return plan;
  }

  void start(Worker& worker, const Bucket& bucket, Buffer partition, int number) {
    const int server = plan_.server[static_cast<std::size_t>(number)];
    pending_.push_back(
        worker.start(worker.bucket_lane(number), [partition, server, index = bucket.index](Worker& lane) {
          const Timeline::ForBucket of_this_one(lane.timeline, index);
          as_gradients_travel(lane, partition, [&](Buffer travelling) {
            hierarchical(lane, travelling, NodeValue::weighted_mean,
                         [&](Communicator& group, Buffer part) { mean_at(lane, group, part, server); });
          });
        }));
  }

  std::int64_t partition_;
  Plan plan_;
  std::vector<Pending> pending_;
};

const Algorithms::Registration registration(
    "push_pull",
    {"average gradients at servers, in partitions, several at a time",
     "Jiang et al., A unified architecture for accelerating distributed DNN training (BytePS), OSDI 2020",
     "Networks whose switches cap each connection, or hosts whose servers answer several requests at a time.",
     "Fast rings: every partition is a message of its own, and pays its latency."},
    [](Params& params) { return std::make_unique<PushPull>(params); });

}  // namespace
}  // namespace trigram
