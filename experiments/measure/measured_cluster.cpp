#include "experiments/measure/measured_cluster.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/measure/fit_messages.hpp"
#include "experiments/measure/median.hpp"

namespace trigram {
namespace {

MeasuredPoint point_of(const std::string& name, double amount, const std::vector<double>& times) {
  const auto [shortest, longest] = std::minmax_element(times.begin(), times.end());
  const double middle = median(times);
  return {name, {amount, middle}, (*longest - *shortest) / middle};
}

std::vector<TimedAmount> medians(const MeasuredPoints& measured) {
  std::vector<TimedAmount> all;
  for (const MeasuredPoint& point : measured.points) all.push_back(point.median);
  return all;
}

void fit(MeasuredLine& measured, const AlphaBeta& line) {
  measured.line = line;
  for (MeasuredPoint& point : measured.points) point.fitted = line.seconds(point.median.amount);
}

std::vector<MeasuredPoint> points_of_pattern(const ClusterSamples& samples, std::size_t pattern) {
  std::vector<MeasuredPoint> points;
  for (std::size_t size = 0; size < samples.plan.sizes.size(); ++size)
    points.push_back(point_of("", static_cast<double>(samples.plan.sizes[size]),
                              network_times(samples.network, samples.patterns, samples.plan, pattern, size)));
  return points;
}

TimedMessages timed(const MeasuredPoints& measured, bool answers) {
  TimedMessages messages{medians(measured), {}};
  for (const TimedAmount& size : messages.sizes)
    messages.trains.push_back({static_cast<int>(messages_in_a_row(static_cast<std::int64_t>(size.amount))), answers});
  return messages;
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
  MeasuredLine measured{{of.codec + "/" + of.step, {}}, {}};
  const std::size_t sizes = codec_counts().size(), stride = samples.operations.size() * sizes;
  for (std::size_t size = 0; size < sizes; ++size) {
    std::vector<double> times;
    for (const std::vector<double>& rank : samples.codecs) {
      for (std::size_t at = operation * sizes + size; at < rank.size(); at += stride) times.push_back(rank[at]);
    }
    measured.points.push_back(point_of(measured.name, static_cast<double>(codec_counts()[size]), times));
  }
  fit(measured, fit_alpha_beta(medians(measured)));
  return measured;
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

double MeasuredPoints::worst_residual() const {
  double worst = 0;
  for (const MeasuredPoint& point : points) worst = std::max(worst, std::abs(point.residual()));
  return worst;
}

MeasuredCluster::MeasuredCluster(const ClusterSamples& samples) {
  ranks_of_node.resize(static_cast<std::size_t>(samples.node_of_rank.back()) + 1);
  for (const int node : samples.node_of_rank) ++ranks_of_node[static_cast<std::size_t>(node)];
  message_overhead = overhead_of(samples.posted);
  fit_network(samples);
  memory = {{"device, limited by memory", device_points(samples, DeviceLimit::memory)}, {}};
  fit(memory, fit_alpha_beta(medians(memory)));
  arithmetic = {{"device, limited by arithmetic", device_points(samples, DeviceLimit::arithmetic)}, {}};
  fit(arithmetic, fit_beta(memory.line.alpha, medians(arithmetic)));
  for (std::size_t i = 0; i < samples.operations.size(); ++i) codecs.push_back(fit_codec(samples, i));
  const auto& contention = samples.contention;
  using Times = ContentionTimes;
  beside_collectives = slowdown_of(contention, &Times::beside_collectives, &Times::collectives_outlasted);
  beside_codecs = slowdown_of(contention, &Times::beside_codecs, &Times::codecs_outlasted);
  idle_link = longest_of(contention, &Times::idle_link);
  busy_link = longest_of(contention, &Times::busy_link);
  judge_connections();
}

// Between nodes the patterns are fitted together: what a pair of nodes takes, and all of them at once, have the same
// mechanisms. The overhead of a message is part of what one message takes, where that shows.
void MeasuredCluster::fit_network(const ClusterSamples& samples) {
  constexpr double of_note = 0.01;
  for (std::size_t pattern = 0; pattern < samples.patterns.size(); ++pattern) {
    network.push_back({{samples.patterns[pattern].name, points_of_pattern(samples, pattern)}, {}});
    kinds_.push_back(samples.patterns[pattern].kind);
  }
  FittedMessages between;
  for (std::size_t pattern = 0; pattern < network.size(); ++pattern) {
    MeasuredMessages& one = network[pattern];
    const TimedMessages messages = timed(one, samples.patterns[pattern].answers());
    switch (kinds_[pattern]) {
      case Pattern::Kind::pair_between_nodes:
        if (message_overhead <= of_note * messages.sizes.front().seconds) message_overhead = 0;
        between = fit_messages(messages, timed(*of(Pattern::Kind::nodes_at_once), false), message_overhead);
        one.terms = between.pair;
        break;
      case Pattern::Kind::nodes_at_once:
        one.terms = between.all;
        break;
      case Pattern::Kind::all_ranks_at_once:
        one.terms = fit_crowded(between.all, messages);
        break;
      case Pattern::Kind::pair_inside_node:
      case Pattern::Kind::inside_nodes_at_once:
        one.terms = fit_crowded({}, messages);
        break;
    }
    for (std::size_t i = 0; i < one.points.size(); ++i)
      one.points[i].fitted = seconds_of(one.terms, messages.sizes[i].amount, messages.trains[i]);
  }
}

// k ranks of a node take k times as long through one NIC, and no longer through one each. In between, one NIC is shared
// by connections of which one alone does not fill it. Where windows limit them, their times say nothing of the NIC.
void MeasuredCluster::judge_connections() {
  const MeasuredMessages* one = of(Pattern::Kind::nodes_at_once);
  const MeasuredMessages* all = of(Pattern::Kind::all_ranks_at_once);
  if (one == nullptr) return;
  nic_bandwidth = one->terms.bandwidth;
  if (all == nullptr || one->terms.window > 0 || !std::isfinite(nic_bandwidth)) return;
  constexpr double distinct = 1.15;
  const double fewest = *std::min_element(ranks_of_node.begin(), ranks_of_node.end());
  const double longer = one->terms.bandwidth / all->terms.bandwidth;
  nic_per_gpu = longer < distinct;
  if (nic_per_gpu || longer * distinct > fewest) return;
  connection_cap = nic_bandwidth;
  nic_bandwidth = fewest * all->terms.bandwidth;
}

const MeasuredMessages* MeasuredCluster::of(Pattern::Kind kind) const {
  const auto found = std::find(kinds_.begin(), kinds_.end(), kind);
  return found == kinds_.end() ? nullptr : &network[static_cast<std::size_t>(found - kinds_.begin())];
}

}  // namespace trigram
