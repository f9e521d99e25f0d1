// A one-way ring with chords: every vertex sends to the next one, and one in `every` also to the one half way round. A
// vertex gives all that it sends to, and itself, 1/(1 + their number): columns sum to 1, rows do not where more or
// fewer arrive than leave, so that weights of 1 end as 6/5 and 4/5 where `every` is 2 and the size a multiple of 4. It
// is the smallest kind of graph that push-sum is for. Kempe, Dobra & Gehrke, "Gossip-based computation of aggregate
// information", FOCS 2003; Nedić & Olshevsky, "Distributed optimization over time-varying directed graphs", 2015.
#include <algorithm>

#include "core/topologies/topology.hpp"

namespace trigram {

namespace {

class ChordedRing final : public Topology {
 public:
  explicit ChordedRing(Params& params)
      : every_(params.get("every", 2, "one vertex in so many has a chord", {.least = 1})) {}

  Stochasticity stochasticity() const override { return Stochasticity::column; }

  void resize(const Vertices& vertices) override {
    require(vertices.count >= 1, "a topology has at least one vertex, not " + std::to_string(vertices.count));
    size_ = vertices.count;
  }
  int size() const override { return size_; }

  Row row(int vertex, std::int64_t step) const override {
    Row weights;
    for (const int distance : {0, 1, half()}) {
      const int from = (vertex - distance + size_) % size_;
      const std::vector<int> told = sends_to(from, step);
      const bool hears = from == vertex || std::find(told.begin(), told.end(), vertex) != told.end();
      if (hears) weights[from] = 1.0 / static_cast<double>(1 + told.size());
    }
    return weights;
  }

  std::vector<int> sends_to(int vertex, std::int64_t) const override {
    std::vector<int> peers;
    for (const int distance : {1, vertex % every_ == 0 ? half() : 1}) {
      const int peer = (vertex + distance) % size_;
      if (peer != vertex && (peers.empty() || peers.back() != peer)) peers.push_back(peer);
    }
    std::sort(peers.begin(), peers.end());
    return peers;
  }

  bool directed() const override { return size_ > 2; }
  std::int64_t period() const override { return 1; }

 private:
  int half() const { return size_ / 2; }

  int every_;
  int size_ = 1;
};

const Topologies::Registration registration("chorded_ring",
                                            {"directed ring with chords at some vertices, column stochastic only",
                                             "Kempe, Dobra & Gehrke, Gossip-based computation of aggregate "
                                             "information, FOCS 2003"},
                                            [](Params& params) { return std::make_unique<ChordedRing>(params); });

}  // namespace

}  // namespace trigram
