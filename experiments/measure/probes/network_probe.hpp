// Messages between ranks, measured: one pair at a time and all ranks at once, inside nodes and between them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/lane/worker.hpp"

namespace trigram {

/// Which ranks send to which, at the same time.
struct Pattern {
  enum class Kind : std::uint8_t {
    pair_between_nodes,   ///< a message and its answer, one pair at a time
    nodes_at_once,        ///< one rank of each node sends and receives one message
    all_ranks_at_once,    ///< the same with all ranks: shows whether the ranks of a node share a NIC
    pair_inside_node,     ///< a message and its answer, one pair at a time
    inside_nodes_at_once  ///< every rank sends to and receives from one of its node
  };
  using Messages = std::vector<std::pair<int, int>>;  ///< sender, receiver

  Kind kind;
  std::string name;
  std::vector<Messages> turns;  ///< one after the other; the messages of a turn are under way together

  bool between_nodes() const { return kind <= Kind::all_ranks_at_once; }
  /// A round trip is measured, and half of it reported.
  bool answers() const { return kind == Kind::pair_between_nodes || kind == Kind::pair_inside_node; }
};

/// The patterns that tell something about ranks on these nodes: none for one rank.
std::vector<Pattern> network_patterns(const std::vector<int>& node_of_rank);

/// How long and how large to probe.
struct ProbePlan {
  std::vector<std::int64_t> sizes;  ///< bytes of a message, ascending
  int rounds = 1;                   ///< each size is measured so often, turn by turn
  bool phantom = false;             ///< where time is a model's, no byte need move
};

/// How many messages of so many bytes follow each other in one sample.
std::int64_t messages_in_a_row(std::int64_t bytes);

/// Seconds of a message as this rank saw them, in the order size, round, pattern, turn; 0 where it took no part.
std::vector<double> probe_network(RankRuntime& runtime, const std::vector<Pattern>& patterns, const ProbePlan& plan);

/// Of one pattern and size: over rounds and turns, the time of the rank that took longest.
std::vector<double> network_times(const std::vector<std::vector<double>>& ranks, const std::vector<Pattern>& patterns,
                                  const ProbePlan& plan, std::size_t pattern, std::size_t size);

}  // namespace trigram
