#include "experiments/measure/measured_cluster.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/measure/median.hpp"

namespace trigram {
namespace {

MeasuredPoint point_of(const std::string& name, double amount, const std::vector<double>& times) {
  const auto [shortest, longest] = std::minmax_element(times.begin(), times.end());
  const double middle = median(times);
  return {name, {amount, middle}, (*longest - *shortest) / middle};
}

std::vector<TimedAmount> medians(const MeasuredLine& fit) {
  std::vector<TimedAmount> all;
  for (const MeasuredPoint& point : fit.points) all.push_back(point.median);
  return all;
}

/// Messages between nodes may be announced before they are sent, if they are large, and wait for windows. A pair shows
/// these one by one, since each message finds the window open; where all send at once and again and again, windows are
/// smaller, or the same as far as such times tell. Two paths are found by either. A burst passes after a pause, which a
/// pair has while it waits for an answer.
AlphaBeta line_between_nodes(const Pattern& pattern, const std::vector<TimedAmount>& times, const AlphaBeta& pair) {
  if (pattern.answers()) return fit_pair(times);
  if (pair.burst > 0) return fit_burst_following(pair, times);
  if (!std::isfinite(pair.window)) {
    const AlphaBeta all = fit_two_paths(fit_stepped(times), times);
    return all.chunk == 0 && pair.chunk > 0 ? fit_chunked(pair, times) : all;
  }
  constexpr double alike = 0.1;
  AlphaBeta all = fit_following(pair, times);
  if (std::abs(all.window / pair.window - 1) < alike) all.window = pair.window;
  return all;
}

/// `pair`: what a pair of ranks on different nodes was found to take, unless this pattern is that.
MeasuredLine fit_network(const ClusterSamples& samples, std::size_t pattern, const AlphaBeta& pair) {
  MeasuredLine fit{samples.patterns[pattern].name, {}, {}};
  for (std::size_t size = 0; size < samples.plan.sizes.size(); ++size) {
    fit.points.push_back(point_of("", static_cast<double>(samples.plan.sizes[size]),
                                  network_times(samples.network, samples.patterns, samples.plan, pattern, size)));
  }
  fit.line = samples.patterns[pattern].between_nodes()
                 ? line_between_nodes(samples.patterns[pattern], medians(fit), pair)
                 : fit_alpha_beta(medians(fit));
  return fit;
}

/// Ranks compute side by side, so every one of them and every round counts alike.
std::vector<MeasuredPoint> device_points(const ClusterSamples& samples, DeviceLimit limit) {
  std::vector<MeasuredPoint> points;
  const std::vector<DeviceSample>& all = samples.device.front().samples;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].limit != limit) continue;
    std::vector<double> times;
    for (const DeviceTimes& rank : samples.device) {
      for (std::size_t at = i; at < rank.seconds.size(); at += all.size()) times.push_back(rank.seconds[at]);
    }
    points.push_back(point_of(all[i].name, all[i].amount, times));
  }
  return points;
}

/// The line of one operation of a codec, of every rank and every round.
MeasuredLine fit_codec(const ClusterSamples& samples, std::size_t operation) {
  const CodecOperation& of = samples.operations[operation];
  MeasuredLine fit{of.codec + "/" + of.step, {}, {}};
  const std::size_t sizes = codec_counts().size(), stride = samples.operations.size() * sizes;
  for (std::size_t size = 0; size < sizes; ++size) {
    std::vector<double> times;
    for (const std::vector<double>& rank : samples.codecs) {
      for (std::size_t at = operation * sizes + size; at < rank.size(); at += stride) times.push_back(rank[at]);
    }
    fit.points.push_back(point_of(fit.name, static_cast<double>(codec_counts()[size]), times));
  }
  fit.line = fit_alpha_beta(medians(fit));
  return fit;
}

/// Median over rounds of what each message more takes the rank that takes longest.
double overhead_of(const std::vector<std::vector<PostedTimes>>& ranks) {
  std::vector<double> all;
  for (std::size_t round = 0; !ranks.empty() && round < ranks.front().size(); ++round) {
    double one = 0, many = 0;
    for (const std::vector<PostedTimes>& rank : ranks) {
      one = std::max(one, rank[round].one);
      many = std::max(many, rank[round].many);
    }
    all.push_back(std::max(0.0, many - one) / posted_more);
  }
  return all.empty() ? 0 : median(all);
}

/// Of all ranks and rounds, what `seconds` says in relation to the kernels alone.
Slowdown slowdown_of(const std::vector<std::vector<ContentionTimes>>& ranks, double ContentionTimes::*seconds,
                     bool ContentionTimes::*outlasted) {
  std::vector<double> times;
  std::size_t covered = 0;
  for (const std::vector<ContentionTimes>& rank : ranks) {
    for (const ContentionTimes& round : rank) {
      times.push_back(round.*seconds / round.alone);
      if (round.*outlasted) ++covered;
    }
  }
  if (times.empty()) return {};
  return {median(times), 2 * covered <= times.size()};
}

/// The median over rounds of the rank that takes longest.
double longest_of(const std::vector<std::vector<ContentionTimes>>& ranks, double ContentionTimes::*seconds) {
  std::vector<double> all;
  for (std::size_t round = 0; !ranks.empty() && round < ranks.front().size(); ++round) {
    double longest = 0;
    for (const std::vector<ContentionTimes>& rank : ranks) longest = std::max(longest, rank[round].*seconds);
    all.push_back(longest);
  }
  return all.empty() ? 0 : median(all);
}

}  // namespace

double MeasuredLine::worst_residual() const {
  double worst = 0;
  for (const MeasuredPoint& point : points) worst = std::max(worst, std::abs(line.residual(point.median)));
  return worst;
}

MeasuredCluster::MeasuredCluster(const ClusterSamples& samples) {
  ranks_of_node.resize(static_cast<std::size_t>(samples.node_of_rank.back()) + 1);
  for (const int node : samples.node_of_rank) ++ranks_of_node[static_cast<std::size_t>(node)];
  for (std::size_t pattern = 0; pattern < samples.patterns.size(); ++pattern) {
    const MeasuredLine* pair = of(Pattern::Kind::pair_between_nodes);
    network.push_back(fit_network(samples, pattern, pair != nullptr ? pair->line : AlphaBeta()));
    kinds_.push_back(samples.patterns[pattern].kind);
  }
  memory = {"device, limited by memory", device_points(samples, DeviceLimit::memory), {}};
  memory.line = fit_alpha_beta(medians(memory));
  arithmetic = {"device, limited by arithmetic", device_points(samples, DeviceLimit::arithmetic), {}};
  arithmetic.line = fit_beta(memory.line.alpha, medians(arithmetic));
  for (std::size_t i = 0; i < samples.operations.size(); ++i) codecs.push_back(fit_codec(samples, i));
  message_overhead = overhead_of(samples.posted);
  const auto& contention = samples.contention;
  using Times = ContentionTimes;
  beside_collectives = slowdown_of(contention, &Times::beside_collectives, &Times::collectives_outlasted);
  beside_codecs = slowdown_of(contention, &Times::beside_codecs, &Times::codecs_outlasted);
  idle_link = longest_of(contention, &Times::idle_link);
  busy_link = longest_of(contention, &Times::busy_link);
  judge_connections();
}

// k ranks of a node take k times as long through one NIC, and no longer through one each. In between, one NIC is shared
// by connections of which one alone does not fill it. Where windows limit them, their times say nothing of the NIC.
void MeasuredCluster::judge_connections() {
  const MeasuredLine* one = of(Pattern::Kind::nodes_at_once);
  const MeasuredLine* all = of(Pattern::Kind::all_ranks_at_once);
  if (one == nullptr || one->line.beta <= 0) return;
  nic_bandwidth = 1 / one->line.beta;
  if (all == nullptr || std::isfinite(one->line.window)) return;
  constexpr double distinct = 1.15;
  const double fewest = *std::min_element(ranks_of_node.begin(), ranks_of_node.end());
  const double longer = all->line.beta / one->line.beta;
  nic_per_gpu = longer < distinct;
  if (nic_per_gpu || longer * distinct > fewest) return;
  connection_cap = nic_bandwidth;
  nic_bandwidth = fewest / all->line.beta;
}

const MeasuredLine* MeasuredCluster::of(Pattern::Kind kind) const {
  const auto found = std::find(kinds_.begin(), kinds_.end(), kind);
  return found == kinds_.end() ? nullptr : &network[static_cast<std::size_t>(found - kinds_.begin())];
}

}  // namespace trigram
