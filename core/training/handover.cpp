#include "core/training/handover.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/values/packing.hpp"

namespace trigram {
namespace {

const std::string report_item = std::string(of_the_rank_alone) + "report";

std::map<std::string, std::vector<StateItem>> by_name(const std::vector<std::byte>& state) {
  std::map<std::string, std::vector<StateItem>> named;
  for (StateItem& item : items_of(state)) named[item.name].push_back(std::move(item));
  return named;
}

}  // namespace

Handover::Handover(MemberChange change, std::function<Bytes(int)> state)
    : change_(std::move(change)), state_(std::move(state)) {
  for (int rank = 0; rank < change_.ranks; ++rank) add(rank);
  for (const auto& [name, all] : held_) {
    for (const HeldItem& held : all) {
      if (!is_anew(held)) held.require_sound(!change_.lost.empty());
    }
  }
}

void Handover::add(int rank) {
  const bool lost = std::ranges::count(change_.lost, rank) > 0;
  const bool apart = std::ranges::count(change_.apart, rank) > 0;
  const bool trained = rank < change_.trained, stays = trained && change_.stays(rank);
  known_ += trained && !lost ? 1 : 0;
  for (const auto& [name, items] : by_name(state_(rank))) {
    if (name == report_item) reports_.push_back(items.front().bytes);
    if (lost) continue;
    std::vector<HeldItem>& all = held_[name];
    if (all.size() < items.size()) all.resize(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (apart && (items[i].fate == Fate::alike || items[i].fate == Fate::cut)) continue;
      if (trained || items[i].fate == Fate::cut) all[i].add(rank, items[i], stays);
    }
  }
}

Handover::Bytes Handover::of(int rank) const {
  const int was = change_.was(rank);
  const auto own = was >= 0 ? by_name(state_(was)) : std::map<std::string, std::vector<StateItem>>();
  Packer packer;
  put_item(packer, {.name = std::string(handed_over)});
  for (const auto& [name, all] : held_) {
    const auto found = own.find(name);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool has_own = found != own.end() && i < found->second.size();
      std::optional<StateItem> item = taken_over(all[i], has_own ? &found->second[i] : nullptr);
      // What nobody holds keeps the place of those behind it.
      if (!item && !is_anew(all[i])) put_item(packer, {.name = name});
      if (!item) continue;
      if (name == report_item) item->bytes = report(rank, item->bytes);
      put_item(packer, *item);
      if (!name.starts_with(weights_item)) continue;
      StateItem mean = all[i].mean();
      mean.name = std::string(mean_of) + name;
      put_item(packer, mean);
    }
  }
  return std::move(packer).bytes();
}

std::optional<StateItem> Handover::taken_over(const HeldItem& held, const StateItem* own) const {
  if (change_.is_none()) return own == nullptr ? std::nullopt : std::optional(*own);
  if (is_anew(held) || !held.is_handed_over()) return std::nullopt;
  return held.of(own, known_, change_.train);
}

bool Handover::is_anew(const HeldItem& held) const {
  return held.fate() == Fate::anew || (held.fate() == Fate::joint && !change_.lost.empty());
}

std::vector<std::byte> state_of_lost(const RankReport& report) {
  Packer packer;
  put_item(packer, {.name = report_item, .fate = Fate::own, .bytes = pack(report)});
  return std::move(packer).bytes();
}

/// Evaluations are with whoever completed them, and rank 0 is always there.
Handover::Bytes Handover::report(int rank, const Bytes& then) const {
  RankReport own = unpack(then);
  own.evals.clear();
  if (rank == 0) {
    std::vector<RankReport> all;
    for (const Bytes& bytes : reports_) all.push_back(unpack(bytes));
    own.evals = evaluations(all);
  }
  if (change_.was(rank) == MemberChange::newcomer) {
    own.steps.clear();
    own.recorded.clear();
  }
  return pack(own);
}

}  // namespace trigram
