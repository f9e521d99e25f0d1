#include "experiments/measure/probes/network_probe.hpp"

#include <algorithm>

namespace trigram {
namespace {

/// Pairs beyond these tell little more and cost as much.
constexpr std::size_t most_pairs = 8;

using Nodes = std::vector<std::vector<int>>;  ///< the ranks of each node

Nodes ranks_of_nodes(const std::vector<int>& node_of_rank) {
  Nodes nodes(static_cast<std::size_t>(node_of_rank.back()) + 1);
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank)
    nodes[static_cast<std::size_t>(node_of_rank[rank])].push_back(static_cast<int>(rank));
  return nodes;
}

/// The first `ranks` of each node, to those of the node just below half way round: of more than two, no two send to
/// each other. In most collectives they do not either, and where they do, what the network answers (that a message may
/// come, that it came) rides along with what they send anyway, instead of taking its own way past what others are sent.
Pattern::Messages half_way_round(const Nodes& nodes, std::size_t ranks) {
  const std::size_t distance = std::max<std::size_t>(1, (nodes.size() - 1) / 2);
  Pattern::Messages messages;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const std::vector<int>& to = nodes[(node + distance) % nodes.size()];
    for (std::size_t i = 0; i < ranks; ++i) messages.emplace_back(nodes[node][i], to[i]);
  }
  return messages;
}

void add_between_nodes(const Nodes& nodes, std::size_t fewest, std::vector<Pattern>& patterns) {
  using Kind = Pattern::Kind;
  Pattern pairs{Kind::pair_between_nodes, "between nodes, one pair at a time", {}};
  for (std::size_t node = 1; node < nodes.size() && pairs.turns.size() < most_pairs; ++node)
    pairs.turns.push_back({{nodes[node - 1].front(), nodes[node].front()}});
  patterns.push_back(pairs);
  patterns.push_back({Kind::nodes_at_once, "between nodes, all at once", {half_way_round(nodes, 1)}});
  if (fewest > 1)
    patterns.push_back({Kind::all_ranks_at_once,
                        "the same, " + std::to_string(fewest) + " ranks a node",
                        {half_way_round(nodes, fewest)}});
}

void add_inside_nodes(const Nodes& nodes, std::vector<Pattern>& patterns) {
  using Kind = Pattern::Kind;
  Pattern pairs{Kind::pair_inside_node, "inside a node, one pair at a time", {}};
  Pattern::Messages all;
  for (const std::vector<int>& ranks : nodes) {
    if (ranks.size() > 1 && pairs.turns.size() < most_pairs) pairs.turns.push_back({{ranks[0], ranks[1]}});
    for (std::size_t i = 0; i < ranks.size() && ranks.size() > 1; ++i)
      all.emplace_back(ranks[i], ranks[(i + ranks.size() / 2) % ranks.size()]);
  }
  patterns.push_back(pairs);
  patterns.push_back({Kind::inside_nodes_at_once, "inside nodes, all at once", {all}});
}

/// One rank's part in one sample.
class Probe {
 public:
  Probe(RankRuntime& runtime, const ProbePlan& plan) : runtime_(runtime), comm_(*runtime.lane(0).comm) {
    const std::int64_t most = *std::max_element(plan.sizes.begin(), plan.sizes.end());
    out_ = comm_.device().allocate({most, DType::u8, most, plan.phantom});
    in_ = comm_.device().allocate({most, DType::u8, most, plan.phantom});
  }

  /// Seconds of a message of `bytes`.
  double measure(const Pattern::Messages& messages, bool answers, std::int64_t bytes) {
    comm_.barrier();
    const std::vector<Transfer> transfers = mine(messages, bytes);
    if (transfers.empty()) return 0;
    run(mine(messages, 0), answers);  // its ranks are here now
    comm_.device().synchronize();
    const std::int64_t repetitions = messages_in_a_row(bytes);
    const double begin = runtime_.now();
    for (std::int64_t i = 0; i < repetitions; ++i) run(transfers, answers);
    comm_.device().synchronize();
    const double trips = static_cast<double>(repetitions) * (answers ? 2 : 1);
    return (runtime_.now() - begin) / trips;
  }

 private:
  std::vector<Transfer> mine(const Pattern::Messages& messages, std::int64_t bytes) const {
    std::vector<Transfer> transfers;
    for (const auto& [from, to] : messages) {
      if (from == comm_.rank()) transfers.push_back(Transfer::send_to(to, out_.view().slice(0, bytes)));
      if (to == comm_.rank()) transfers.push_back(Transfer::receive_from(from, in_.view().slice(0, bytes)));
    }
    return transfers;
  }

  void run(const std::vector<Transfer>& transfers, bool answers) {
    comm_.exchange(transfers);
    if (!answers) return;
    for (const Transfer& there : transfers) {
      const bool sent = there.direction == Transfer::Direction::send;
      const Buffer memory = (sent ? in_ : out_).view().slice(0, there.buffer.count());
      comm_.exchange({sent ? Transfer::receive_from(there.peer, memory) : Transfer::send_to(there.peer, memory)});
    }
  }

  RankRuntime& runtime_;
  Communicator& comm_;
  OwnedBuffer out_, in_;
};

}  // namespace

std::vector<Pattern> network_patterns(const std::vector<int>& node_of_rank) {
  const Nodes nodes = ranks_of_nodes(node_of_rank);
  std::size_t fewest = node_of_rank.size(), most = 0;
  for (const std::vector<int>& ranks : nodes) {
    fewest = std::min(fewest, ranks.size());
    most = std::max(most, ranks.size());
  }
  std::vector<Pattern> patterns;
  if (nodes.size() > 1) add_between_nodes(nodes, fewest, patterns);
  if (most > 1) add_inside_nodes(nodes, patterns);
  return patterns;
}

// As in the rounds of a collective, what one leaves in queues delays the next. Short ones are repeated until about so
// much was sent, so that the clock's grain and the barrier do not show.
std::int64_t messages_in_a_row(std::int64_t bytes) {
  constexpr std::int64_t bytes_of_sample = 256 * 1024;
  constexpr std::int64_t most = 64, fewest = 4;
  return std::clamp(bytes_of_sample / std::max<std::int64_t>(bytes, 1), fewest, most);
}

// By size, so that no message finds what longer ones have left: windows that have grown, paths whose rate is known.
std::vector<double> probe_network(RankRuntime& runtime, const std::vector<Pattern>& patterns, const ProbePlan& plan) {
  Probe probe(runtime, plan);
  std::vector<double> seconds;
  for (const std::int64_t bytes : plan.sizes) {
    for (int round = plan.phantom ? 0 : -1; round < plan.rounds; ++round) {  // the first opens connections
      for (const Pattern& pattern : patterns) {
        for (const Pattern::Messages& messages : pattern.turns) {
          const double one = probe.measure(messages, pattern.answers(), bytes);
          if (round >= 0) seconds.push_back(one);
        }
      }
    }
  }
  return seconds;
}

std::vector<double> network_times(const std::vector<std::vector<double>>& ranks, const std::vector<Pattern>& patterns,
                                  const ProbePlan& plan, std::size_t pattern, std::size_t size) {
  std::size_t before = 0, turns = 0;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (i < pattern) before += patterns[i].turns.size();
    turns += patterns[i].turns.size();
  }
  const auto rounds = static_cast<std::size_t>(plan.rounds);
  std::vector<double> times;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < patterns[pattern].turns.size(); ++turn) {
      const std::size_t at = (size * rounds + round) * turns + before + turn;
      double longest = 0;
      for (const std::vector<double>& rank : ranks) longest = std::max(longest, rank[at]);
      times.push_back(longest);
    }
  }
  return times;
}

}  // namespace trigram
