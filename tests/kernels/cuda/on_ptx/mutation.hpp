// Kernels that are wrong in one thing, made of right ones.
#pragma once

#include <string>
#include <vector>

namespace trigram::on_ptx {

/// What is made wrong, and where; all places where none is named.
struct Mutation {
  /// "no_barriers", "turned_comparisons" (> is ≥), "swapped_shuffles" (to the lane whose bit differs is down),
  /// "shifted_lanes" (a shuffle's lane is one further), or "contracted" (a product that is added is not rounded).
  std::string name{};
  /// Part of a kernel's heading in PTX, as its name.
  std::string kernel{};
  /// Of such places in the kernel, from 0; all where it is negative.
  int place = -1;
};

/// Reads "NAME", "NAME KERNEL" or "NAME KERNEL PLACE". Throws std::invalid_argument for another name.
Mutation mutation_of(const std::string& text);

/// The PTX of one object with that made wrong.
std::string mutated(const std::string& ptx, const Mutation& mutation);

/// A mutation of one place, and the line of the project's source that it comes from; "" and 0 where nvcc says none.
struct Place {
  Mutation mutation;
  std::string instruction;  ///< with its types, as "setp.gt.f32"
  std::string file;
  int line = 0;
};

/// All places of all mutations in the PTX of one object.
std::vector<Place> places_in(const std::string& ptx);

}  // namespace trigram::on_ptx
