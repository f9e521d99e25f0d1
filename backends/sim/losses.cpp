#include "backends/sim/losses.hpp"

#include <algorithm>
#include <limits>

namespace trigram::sim {

Losses::Losses(const World& world) : all_(world.losses), detection_s_(world.detection_s) {}

bool Losses::includes(int rank) const { return std::ranges::find(all_, rank, &LostRank::rank) != all_.end(); }

double Losses::wait_ends(int rank, int peer, double since) const {
  const auto lost = std::ranges::find(all_, peer, &LostRank::rank);
  if (lost == all_.end()) return std::numeric_limits<double>::infinity();
  return has_missed(rank, peer) ? since : std::max(since, lost->second) + detection_s_;
}

double Losses::wait_ends(int rank, std::span<const int> peers, double since) const {
  double ends = std::numeric_limits<double>::infinity();
  for (const LostRank& lost : all_) {
    if (std::ranges::find(peers, lost.rank) != peers.end()) ends = std::min(ends, wait_ends(rank, lost.rank, since));
  }
  return ends;
}

bool Losses::has_unnoticed(double second) const {
  return std::ranges::any_of(all_, [&](const LostRank& lost) {
    const auto missed = missed_.lower_bound({lost.rank, 0});
    return lost.second <= second && (missed == missed_.end() || missed->first != lost.rank);
  });
}

void Losses::notice(double second) {
  for (const LostRank& lost : all_) {
    if (lost.second <= second) miss(lost.rank, lost.rank);
  }
}

}  // namespace trigram::sim
