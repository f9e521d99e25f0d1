// An item of the states of all ranks, and what becomes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/step/state_items.hpp"

namespace trigram {

/// Takes in what each rank holds under one name, and gives what a rank of a new world goes on from.
class HeldItem {
 public:
  /// Of a rank that trained; `stays` where it goes on. Parts of what is cut are taken from those that served too.
  void add(int rank, const StateItem& item, bool stays);
  /// Throws UsageError for what is alike and two ranks hold differently, for numbers of which no mean is taken, and for
  /// parts that leave a gap: where ranks were lost only for an optimizer's, whose steps are counted on.
  void require_sound(bool ranks_were_lost) const;
  /// Whether there is anything. Ranks that train alone, or do not exchange, may have nothing under a name; nobody has a
  /// part whose holder was lost.
  bool is_handed_over() const { return holders_ > 0 && !has_gap(); }
  /// For a rank of the new world, in which so many `train` where `trained` did whose state is there; `own` is what it
  /// held, null of a newcomer.
  StateItem of(const StateItem* own, int trained, int train) const;
  /// The mean over those who hold it, or what all hold alike.
  StateItem mean() const;
  Fate fate() const { return first_.fate; }

 private:
  bool has_gap() const;
  bool is_alike() const { return other_rank_ < 0; }
  bool has_elements() const { return first_.kind == StateItem::Kind::elements; }
  void begin_sums();
  void add_to_sums(const StateItem& item, int times, int times_of_stay);
  void add_part(const StateItem& item);
  StateItem shifted(const StateItem& begin, int train) const;

  StateItem first_;
  int first_rank_ = 0;
  int other_rank_ = -1;  ///< that holds it differently; none: all hold it alike
  int holders_ = 0, staying_ = 0;
  bool all_whole_ = true;                  ///< nobody holds a part of it alone
  std::vector<double> sum_, sum_of_stay_;  ///< of elements, over all and over those who stay; none where it is alike
  std::vector<int> count_;                 ///< how many hold that element
  StateItem whole_;                        ///< of what is cut
  std::vector<char> covered_;              ///< elements of it that somebody holds
};

}  // namespace trigram
