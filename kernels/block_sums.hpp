// The upper part of the one fixed tree of all sums: how sums of its blocks become one.
#pragma once

#include <cstdint>

#include "kernels/scalar.hpp"

namespace trigram {

/// Adds block sums in pairs, level by level, as they come; an odd one out passes up.
class TreeSum {
 public:
  TRIGRAM_RULE void add(double block) {
    int level = 0;
    for (; (blocks_ >> level & 1U) != 0; ++level) block = levels_[level] + block;
    levels_[level] = block;
    ++blocks_;
  }
  TRIGRAM_RULE double total() const {
    double sum = 0.0;
    bool first = true;
    for (int level = 0; level < most_levels; ++level) {
      if ((blocks_ >> level & 1U) == 0) continue;
      sum = first ? levels_[level] : levels_[level] + sum;
      first = false;
    }
    return sum;
  }

 private:
  static constexpr int most_levels = 64;
  double levels_[most_levels] = {};
  std::uint64_t blocks_ = 0;
};

}  // namespace trigram
