// The ranks of a group.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace trigram::sim {

class Members {
 public:
  /// `ranks` are those of the world, in the order of the group; `name` is for error messages: "all ranks", "node".
  Members(std::vector<int> ranks, std::string name) : members_(std::move(ranks)), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  int size() const { return static_cast<int>(members_.size()); }
  /// The world's rank of a member.
  int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  const std::vector<int>& members() const { return members_; }

 private:
  std::vector<int> members_;
  std::string name_;
};

}  // namespace trigram::sim
