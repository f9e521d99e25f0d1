// A world as a grid of named axes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trigram {

/// Each rank has a coordinate on each axis, and all that coordinates can say is one rank. Ranks count along the last
/// axis first, so that its ranks are neighbours. Along `data` ranks hold replicas and means are taken; along the others
/// a workload says what is spread: experts, or the parts of a tensor.
class Mesh {
 public:
  struct Axis {
    std::string name;
    int size = 1;
  };
  static constexpr std::string_view data = "data";

  /// One axis, data, of so many ranks.
  explicit Mesh(int ranks) : axes_{{std::string(data), ranks}} {}
  Mesh() : Mesh(1) {}
  /// Of "data=4,expert=2" on so many ranks; of nothing, all are along data. Throws UsageError with all that is wrong.
  static Mesh parse(const std::string& text, int ranks);

  const std::vector<Axis>& axes() const { return axes_; }
  bool has(std::string_view axis) const;
  int ranks() const;
  /// How many ranks there are along an axis. Throws Error where there is no such axis; so do the others.
  int size(std::string_view axis) const;
  /// Where a rank is on an axis, from 0.
  int coordinate(std::string_view axis, int rank) const { return rank / stride(axis) % size(axis); }
  /// The rank that is at `coordinate` on an axis, and on all others where `rank` is: of the same line.
  int at(std::string_view axis, int coordinate_there, int rank) const {
    return rank + (coordinate_there - coordinate(axis, rank)) * stride(axis);
  }
  int first_of_line(std::string_view axis, int rank) const { return at(axis, 0, rank); }
  /// "data=4,expert=2".
  std::string text() const;

 private:
  std::vector<Axis>::const_iterator find(std::string_view axis) const;
  /// From a rank to the next along an axis.
  int stride(std::string_view axis) const;

  std::vector<Axis> axes_;
};

}  // namespace trigram
