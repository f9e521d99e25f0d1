// Asynchronous model averaging: a background lane averages snapshots of all weights while ranks go on training; what a
// rank learned meanwhile is kept: x ← x + (mean of snapshots − own snapshot), so the mean over ranks never moves.
//   rounds 2(n−1) and bytes 2 S (n−1)/n per rank and averaging with the ring, plus one flag; overlaps with everything.
#include "core/primitives/async_model_average.hpp"

namespace trigram {
namespace {

class AsyncAverage final : public AsyncModelAverage {
 public:
  using AsyncModelAverage::AsyncModelAverage;

  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  std::vector<std::string> trials() const override { return {"", "every=2,warmup=3"}; }
  void setup(Worker& worker, std::span<Bucket> buckets) override { average().setup(worker, buckets); }

 private:
  Cost averaging_cost(const CostQuery& query) const override { return background_average_cost(query); }
};

const Algorithms::Registration registration(
    "async_average",
    {"average weights in the background, keep local progress", "Gan et al., Bagua, VLDB 2022, arXiv:2107.01499",
     "Ranks of unequal speed that share a network fast enough for an average every few steps.",
     "Where ranks learn much between two averages, which then pull them back."},
    [](Params& params) { return std::make_unique<AsyncAverage>(params); });

}  // namespace
}  // namespace trigram
