// An algorithm that updates weights by itself, as far as options can tell.
#pragma once

#include <memory>

#include "core/step/algorithm.hpp"

namespace trigram {

/// Claims the update and makes none.
class UpdateOwner final : public Algorithm {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  bool uses_optimizer() const override { return false; }
  Cost cost(const CostQuery&) const override { return {}; }
};

/// Its name, which is known from the first call on: no test that tries all algorithms has to bear it.
inline const char* update_owner() {
  static const Algorithms::Registration registration("owner", {"claims the update"},
                                                     [](Params&) { return std::make_unique<UpdateOwner>(); });
  return "owner";
}

}  // namespace trigram
