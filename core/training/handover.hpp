// What the ranks of a new world go on from: the states that those of the old one wrote, by the fate of each item.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/training/held_item.hpp"
#include "core/training/member_change.hpp"
#include "core/training/rank_report.hpp"

namespace trigram {

/// What begins the name of an item that is of a rank and not of what it trains: the time, what was sent, rows.
inline constexpr std::string_view of_the_rank_alone = "own ";
/// The name of the first item of what a Handover gives.
inline constexpr std::string_view handed_over = "handed over";
/// What begins the names of the trainer's weights, bucket by bucket, and of the mean that a Handover adds of each.
inline constexpr std::string_view weights_item = "weights ", mean_of = "mean of ";

/// Weights, optimizers and what methods keep are taken over as their fates say, and as they were where nobody changes;
/// rows and counts of the past stay with their ranks. A newcomer has the counts of the first member and no rows.
class Handover {
 public:
  using Bytes = std::vector<std::byte>;

  /// Of states as StateWriters wrote them, each of which is asked for twice. Throws UsageError for what cannot be
  /// handed over, by the item's name.
  Handover(MemberChange change, std::function<Bytes(int rank)> state);
  /// What a rank of the new world goes on from, for a HandedState.
  Bytes of(int rank) const;

 private:
  void add(int rank);
  /// What a rank that held `own`, or nothing, goes on from of an item; nothing where that is made anew.
  /// Whether `setup` has made it already.
  bool is_anew(const HeldItem& held) const;
  std::optional<StateItem> taken_over(const HeldItem& held, const StateItem* own) const;
  Bytes report(int rank, const Bytes& then) const;

  MemberChange change_;
  std::function<Bytes(int)> state_;
  /// By name; a list may have several items of one name.
  std::map<std::string, std::vector<HeldItem>> held_;
  std::vector<Bytes> reports_;  ///< of all ranks
  int known_ = 0;               ///< ranks that trained, and were not lost
};

/// What a rank that is lost leaves for a Handover: rows and evaluations, of which others go on with the latter.
std::vector<std::byte> state_of_lost(const RankReport& report);

}  // namespace trigram
