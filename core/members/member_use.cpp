#include "core/members/member_use.hpp"

#include <algorithm>

#include "core/training/member_change.hpp"

namespace trigram {
namespace {

/// The first rank whose member was not lost.
int first_of(const std::vector<int>& members, const std::vector<int>& lost) {
  const auto found =
      std::ranges::find_if(members, [&](int member) { return std::ranges::find(lost, member) == lost.end(); });
  return static_cast<int>(found - members.begin());
}

/// What it used stays in the sums, and its evaluations with those of the others.
void remove_lost(Training& training, const std::vector<LostRank>& lost) {
  std::vector<RankReport> there;
  std::vector<EvalRow> evals;
  for (RankReport& report : training.ranks) {
    if (std::ranges::find(lost, report.rank, &LostRank::rank) == lost.end()) {
      there.push_back(std::move(report));
      there.back().rank = static_cast<int>(there.size()) - 1;
      continue;
    }
    training.gone_busy_s += report.busy_s;
    training.gone_to_other_nodes += static_cast<double>(report.sent_to_other_nodes);
    evals.insert(evals.end(), report.evals.begin(), report.evals.end());
  }
  training.ranks = std::move(there);
  training.ranks.front().evals.insert(training.ranks.front().evals.end(), evals.begin(), evals.end());
}

}  // namespace

void MemberUse::add(const MemberEpoch& epoch, const Training& training, double end_s) {
  Counts began, ended;
  std::vector<Counts> now;
  const int first = first_of(members_, epoch.lost);
  for (std::size_t rank = 0; rank < training.ranks.size(); ++rank) {
    const RankReport& report = training.ranks[rank];
    now.push_back({report.busy_s, static_cast<double>(report.sent_to_other_nodes)});
    ended.busy_s += now.back().busy_s;
    ended.to_other_nodes += now.back().to_other_nodes;
    if (last_.empty()) continue;
    const int was = epoch.were[rank];
    const Counts& before = last_[static_cast<std::size_t>(was == MemberChange::newcomer ? first : was)];
    began.busy_s += before.busy_s;
    began.to_other_nodes += before.to_other_nodes;
  }
  const Counts missing{all_.busy_s - began.busy_s, all_.to_other_nodes - began.to_other_nodes};
  parts_.push_back({epoch.begin, {end_s_, static_cast<int>(epoch.members.size())}, missing});
  all_ = {missing.busy_s + ended.busy_s, missing.to_other_nodes + ended.to_other_nodes};
  last_ = std::move(now);
  members_ = epoch.members;
  end_s_ = end_s;
}

void MemberUse::correct(Training& training, const std::vector<LostRank>& lost) const {
  for (const Part& part : parts_) training.ranks_since.push_back(part.ranks);
  training.gone_busy_s = parts_.back().missing.busy_s;
  training.gone_to_other_nodes = parts_.back().missing.to_other_nodes;
  for (RankReport& report : training.ranks) {
    for (EvalRow& row : report.evals) {
      // A border's own evaluation is of the epoch that ends there.
      const auto part =
          std::find_if(parts_.rbegin(), parts_.rend() - 1, [&](const Part& one) { return one.begin < row.step; });
      row.busy_s += part->missing.busy_s;
      row.bytes_between_nodes += part->missing.to_other_nodes;
    }
  }
  if (!lost.empty()) remove_lost(training, lost);
}

}  // namespace trigram
