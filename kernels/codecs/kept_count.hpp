// How many elements a sparsifying codec keeps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/registry/params.hpp"
#include "core/values/error.hpp"

namespace trigram {

/// Reads `fraction` and `k`: k elements where k is given, else ⌈fraction·d⌉; never more than d.
class KeptCount {
 public:
  explicit KeptCount(Params& params)
      : fraction_(params.get("fraction", 0.01, "share of the elements that is kept")),
        k_(params.get("k", std::int64_t{0}, "elements that are kept, instead of a share; 0: by fraction")) {
    require(fraction_ > 0 && fraction_ <= 1,
            params.owner() + ": fraction=" + number_text(fraction_) + " is not in (0, 1]");
    require(k_ >= 0, params.owner() + ": k=" + std::to_string(k_) + " is negative");
  }

  std::int64_t of(std::int64_t count) const {
    const auto share = static_cast<std::int64_t>(std::ceil(fraction_ * static_cast<double>(count)));
    return std::min(count, k_ > 0 ? k_ : share);
  }

 private:
  double fraction_;
  std::int64_t k_;
};

}  // namespace trigram
