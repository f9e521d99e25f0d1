// Kernels that are wrong in one thing, made of right ones.
#pragma once

#include <string>

namespace trigram::on_ptx {

/// What is made wrong, and where; all places where none is named.
struct Mutation {
  /// "no_barriers", "turned_comparisons" (> is ≥), "swapped_shuffles" (to the lane whose bit differs is down), or
  /// "contracted" (a product that is added is not rounded).
  std::string name{};
  /// Part of a kernel's name in PTX.
  std::string kernel{};
  /// Of such places in the kernel, from 0; all where it is negative.
  int place = -1;
};

/// Reads "NAME", "NAME KERNEL" or "NAME KERNEL PLACE". Throws std::invalid_argument for another name.
Mutation mutation_of(const std::string& text);

/// The PTX of one object with that made wrong.
std::string mutated(const std::string& ptx, const Mutation& mutation);

}  // namespace trigram::on_ptx
