// A checkpoint of so many ranks, for another number of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trigram {

/// What begins the name of an item that no other rank goes on from: the time, what was sent, rows.
inline constexpr std::string_view of_the_rank_alone = "own ";

/// One item of what a StateWriter has written.
struct StateItem {
  std::string name;
  std::vector<std::byte> bytes;
};
/// All of them, in the order of their list.
std::vector<StateItem> items_of(const std::vector<std::byte>& state);

/// State that is the same on all ranks, bit for bit, is anybody's: replicated weights and the moments of an optimizer
/// that steps all of them. It is looked at, not promised: an item that two ranks have different is refused by its name.
/// Rows, counts and recorded numbers of the past stay with their ranks; who is new has the counts of rank 0 and no
/// rows.
class SpreadState {
 public:
  using Bytes = std::vector<std::byte>;

  /// Of so many ranks, each of which wrote what `state(rank)` gives. Throws UsageError for an item that differs.
  SpreadState(int ranks, std::function<Bytes(int rank)> state);
  /// What a rank goes on from.
  Bytes of(int rank) const;

 private:
  void require_alike(int rank, const std::vector<StateItem>& items) const;
  Bytes report(int rank, const Bytes& then) const;

  int ranks_;
  std::function<Bytes(int)> state_;
  std::vector<StateItem> first_;  ///< of rank 0
  std::vector<Bytes> reports_;    ///< of all ranks
};

}  // namespace trigram
