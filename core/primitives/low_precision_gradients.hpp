// The algorithms that average gradients by C_LP_S; they differ in how one says which codec.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {

/// Each bucket's gradients become C_LP_S of them, overlapped with the rest of backward.
class LowPrecisionGradients : public GradientMethod {
 public:
  /// A codec by name; its parameters are given as the algorithm's (qsgd:levels=7).
  struct CodecOfName {
    std::string name;
  };

  /// Reads error_feedback (off unless asked for) and exchange. `codec` is a spec. Throws UsageError when there is no
  /// such codec.
  LowPrecisionGradients(Params& params, std::string codec);
  /// The same; every key but error_feedback and exchange is a parameter of the codec.
  LowPrecisionGradients(Params& params, const CodecOfName& codec);

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  Cost cost(const CostQuery& query) const override;
  void check(const CostQuery& query) const override;
  Invariants invariants(const CostQuery& query) const override;
  void setup(Worker& worker, std::span<Bucket> buckets) override;
  void list_state(State& state) override { state.of_each("average", averages_); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override;

  bool error_feedback_;
  FrameExchange exchange_;
  std::string codec_;
  std::unique_ptr<const Codec> model_;
  std::vector<CentralizedLowPrecision> averages_;
};

}  // namespace trigram
