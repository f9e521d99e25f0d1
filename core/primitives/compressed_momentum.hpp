// What 1-bit Adam and 1-bit LAMB share: gradients averaged whole at first, then a first moment that travels in few
// bits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {

/// g ← mean_j g_j in the first `warmup` steps; from then on m ← C_LP_S(m_j), where m_j is what a rank makes of the
/// first moment with its own gradient, overlapped with the rest of backward. The method steps all weights by itself.
///   rounds 2, bytes 2(n−1) encoded(S/4n) per rank after the warm-up, all_reduce's in it
class CompressedMomentum : public GradientMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  bool uses_optimizer() const override { return false; }
  Cost cost(const CostQuery& query) const override;
  void check(const CostQuery& query) const override;

 protected:
  /// Reads warmup, codec, error_feedback and exchange. Throws UsageError when there is no such codec.
  explicit CompressedMomentum(Params& params);

  std::int64_t warmup() const { return warmup_; }
  bool warms_up(std::int64_t step) const { return step < warmup_; }
  void setup_averages(Worker& worker, std::span<const Bucket> buckets);
  void list_averages(State& state) { state.of_each("average", averages_); }

 private:
  void exchange(Worker& lane, Bucket& bucket) final;
  /// Adds this rank's gradient to the first moment, on the bucket's lane, and returns that for its average.
  virtual Buffer accumulate(Worker& lane, Bucket& bucket) = 0;

  std::int64_t warmup_;
  std::string codec_;
  std::unique_ptr<const Codec> model_;
  bool error_feedback_;
  FrameExchange exchange_;
  std::vector<CentralizedLowPrecision> averages_;
};

}  // namespace trigram
