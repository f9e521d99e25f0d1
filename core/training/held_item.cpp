#include "core/training/held_item.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

std::int64_t count_of(const StateItem& item) {
  return static_cast<std::int64_t>(item.bytes.size()) / size_of(item.dtype);
}

std::vector<float> floats_of(const StateItem& item) {
  std::vector<float> values(item.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), item.bytes.data(), item.bytes.size());
  return values;
}

/// All elements of an item that others hold parts of.
StateItem whole_like(const StateItem& item, const std::vector<float>& values) {
  StateItem whole = item;
  const auto bytes = std::as_bytes(std::span(values));
  whole.bytes.assign(bytes.begin(), bytes.end());
  whole.extent = {0, static_cast<std::int64_t>(values.size())};
  return whole;
}

}  // namespace

void HeldItem::add(int rank, const StateItem& item, bool stays) {
  if (item.kind == StateItem::Kind::elements && item.bytes.empty()) return;
  if (holders_ == 0) {
    first_ = item;
    first_rank_ = rank;
  }
  if (item.fate == Fate::cut) add_part(item);
  const bool same = item.bytes == first_.bytes && item.extent == first_.extent;
  all_whole_ = all_whole_ && item.extent.begin == 0 && item.extent.whole == count_of(item);
  if (is_alike() && !same) {
    other_rank_ = rank;
    begin_sums();
  }
  if (!is_alike()) add_to_sums(item, 1, stays ? 1 : 0);
  ++holders_;
  staying_ += stays ? 1 : 0;
}

void HeldItem::begin_sums() {
  if (!has_elements() || first_.dtype != DType::f32 || fate() == Fate::cut || fate() == Fate::anew) return;
  for (std::vector<double>* sum : {&sum_, &sum_of_stay_}) sum->assign(at(first_.extent.whole), 0);
  count_.assign(at(first_.extent.whole), 0);
  add_to_sums(first_, holders_, staying_);
}

void HeldItem::add_to_sums(const StateItem& item, int times, int times_of_stay) {
  if (sum_.empty() || item.extent.whole != first_.extent.whole) return;
  const std::vector<float> values = floats_of(item);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t place = at(item.extent.begin) + i;
    const auto value = static_cast<double>(values[i]);
    sum_[place] += times * value;
    sum_of_stay_[place] += times_of_stay * value;
    count_[place] += times;
  }
}

void HeldItem::add_part(const StateItem& item) {
  const auto element = at(size_of(item.dtype));
  if (covered_.empty()) {
    whole_ = item;
    whole_.extent.begin = 0;
    whole_.bytes.assign(at(item.extent.whole) * element, std::byte{0});
    covered_.assign(at(item.extent.whole), 0);
  }
  if (item.extent.whole != whole_.extent.whole) return;
  const std::size_t begin = at(item.extent.begin);
  std::copy(item.bytes.begin(), item.bytes.end(), whole_.bytes.begin() + static_cast<std::ptrdiff_t>(begin * element));
  std::fill_n(covered_.begin() + static_cast<std::ptrdiff_t>(begin), item.bytes.size() / element, char{1});
}

bool HeldItem::has_gap() const { return std::ranges::find(covered_, 0) != covered_.end(); }

void HeldItem::require_sound(bool ranks_were_lost) const {
  const auto name = [&] { return in_quotes(first_.name); };
  if (fate() == Fate::cut) {
    if (ranks_were_lost && !first_.name.starts_with("optimizer")) return;
    const auto missing = std::ranges::find(covered_, 0) - covered_.begin();
    return require(!has_gap(), "nobody holds element ", missing, " of ", name, ", whose parts ranks keep",
                   ranks_were_lost ? "; let who holds it leave before it is lost, or resume from a checkpoint" : "");
  }
  if (is_alike()) return;
  require(fate() != Fate::alike, "rank ", other_rank_, " holds another ", name, " than rank ", first_rank_,
          ", which list_state() says that all hold alike");
  require(!has_elements() || !sum_.empty(), "ranks hold different ", name, " of ", name_of(first_.dtype),
          ", of which no mean is taken");
}

StateItem HeldItem::of(const StateItem* own, int trained, int train) const {
  if (fate() == Fate::cut) return whole_;
  if (is_alike()) return first_;
  if (!has_elements()) return own != nullptr ? *own : first_;
  const bool goes_on = own != nullptr && !own->bytes.empty() && all_whole_ && fate() != Fate::averaged;
  const StateItem begin = goes_on ? *own : mean();
  const bool balances = fate() == Fate::balanced || fate() == Fate::joint;
  if (!balances || staying_ == holders_) return begin;
  // Where only some hold it, or parts of it, who they will be is not known here: all begin with the mean.
  return holders_ == trained && all_whole_ ? shifted(begin, train) : mean();
}

StateItem HeldItem::mean() const {
  if (is_alike()) return first_;
  std::vector<float> values(sum_.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (count_[i] > 0) values[i] = static_cast<float>(sum_[i] / count_[i]);
  }
  return whole_like(first_, values);
}

/// By as much as the mean over the new ranks, where newcomers begin with that over the old ones, is off from that.
StateItem HeldItem::shifted(const StateItem& begin, int train) const {
  std::vector<float> values = floats_of(begin);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double mean = sum_[i] / count_[i];
    const double others = (train - staying_) * static_cast<double>(static_cast<float>(mean));
    values[i] = static_cast<float>(values[i] + (mean - (sum_of_stay_[i] + others) / train));
  }
  return whole_like(first_, values);
}

}  // namespace trigram
