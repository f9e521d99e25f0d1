// A device mesh: the ranks of a job as a grid of named axes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trigram {

/// Each rank has one coordinate per axis, and each combination of coordinates is one rank. Ranks are numbered along the
/// last axis first, so that its neighbours have consecutive ranks. Along `data` ranks hold replicas and means are
/// taken; along the other axes a workload says what is sharded: experts, or the parts of a tensor.
class Mesh {
 public:
  struct Axis {
    std::string name;
    int size = 1;
  };
  static constexpr std::string_view data = "data";

  /// One axis, data, of `ranks` ranks.
  explicit Mesh(int ranks) : axes_{{std::string(data), ranks}} {}
  Mesh() : Mesh(1) {}
  /// Parses "data=4,expert=2" for `ranks` ranks; empty text: one axis, data. Throws UsageError that lists every
  /// mistake.
  static Mesh parse(const std::string& text, int ranks);

  const std::vector<Axis>& axes() const { return axes_; }
  bool has(std::string_view axis) const;
  int ranks() const;
  /// Number of ranks along an axis. Throws Error where there is no such axis; so do the functions below.
  int size(std::string_view axis) const;
  /// The coordinate of a rank on an axis, from 0.
  int coordinate(std::string_view axis, int rank) const { return rank / stride(axis) % size(axis); }
  /// The rank at `coordinate_there` on an axis that has the coordinates of `rank` on all others: its group along it.
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
