#include "core/training/spread_state.hpp"

#include "core/training/rank_report.hpp"
#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

const std::string report_item = std::string(of_the_rank_alone) + "report";

}  // namespace

std::vector<StateItem> items_of(const std::vector<std::byte>& state) {
  std::vector<StateItem> items;
  Unpacker unpacker(state);
  for (std::size_t read = 0; read < state.size();) {
    StateItem& item = items.emplace_back();
    item.name = unpacker.take_text();
    item.bytes = unpacker.take_all<std::byte>();
    read += 2 * sizeof(std::uint64_t) + item.name.size() + item.bytes.size();
  }
  return items;
}

SpreadState::SpreadState(int ranks, std::function<Bytes(int)> state)
    : ranks_(ranks), state_(std::move(state)), first_(items_of(state_(0))) {
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::vector<StateItem> items = items_of(state_(rank));
    require_alike(rank, items);
    for (const StateItem& item : items) {
      if (item.name == report_item) reports_.push_back(item.bytes);
    }
  }
}

void SpreadState::require_alike(int rank, const std::vector<StateItem>& items) const {
  const std::string end = "; resume with " + std::to_string(ranks_) + " ranks";
  const std::string begin = "cannot resume on another number of ranks: ";
  for (std::size_t i = 0; i < items.size() && i < first_.size(); ++i) {
    const StateItem &here = items[i], &there = first_[i];
    require(
        here.name == there.name, begin, "rank ", rank, " holds ", [&] { return in_quotes(here.name); },
        " where rank 0 holds ", [&] { return in_quotes(there.name); }, ", as where some ranks are servers", end);
    require(
        here.name.starts_with(of_the_rank_alone) || here.bytes == there.bytes, begin,
        [&] { return in_quotes(here.name); }, " differs between rank 0 and rank ", rank,
        ", so that a new rank has no value for it", end);
  }
  require(items.size() == first_.size(), begin, "rank ", rank, " holds ", items.size(), " items, and rank 0 ",
          first_.size(), ", as where some ranks are servers", end);
}

SpreadState::Bytes SpreadState::of(int rank) const {
  Packer packer;
  for (const StateItem& item : rank < ranks_ ? items_of(state_(rank)) : first_) {
    packer.put_text(item.name);
    const Bytes bytes = item.name == report_item ? report(rank, item.bytes) : item.bytes;
    packer.put_all(std::span<const std::byte>(bytes));
  }
  return std::move(packer).bytes();
}

/// Evaluations are with whoever completed them, and rank 0 is always there.
SpreadState::Bytes SpreadState::report(int rank, const Bytes& then) const {
  RankReport own = unpack(then);
  own.evals.clear();
  if (rank == 0) {
    std::vector<RankReport> all;
    for (const Bytes& bytes : reports_) all.push_back(unpack(bytes));
    own.evals = evaluations(all);
  }
  if (rank >= ranks_) {
    own.steps.clear();
    own.recorded.clear();
  }
  return pack(own);
}

}  // namespace trigram
