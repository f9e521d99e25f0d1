// Counts the rounds and bytes of any communicator.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/device/timeline.hpp"
#include "core/lane/communicator.hpp"
#include "core/values/cost.hpp"

namespace trigram {

/// Rounds and modelled bytes sent by one lane of one rank. One lane counts; any thread may read.
class Meter {
 public:
  void add(const Cost& cost);
  /// Of bytes that were added, those that went to another node.
  void add_to_other_nodes(std::int64_t bytes) { to_other_nodes_.fetch_add(bytes, std::memory_order_relaxed); }
  Cost total() const { return {rounds_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)}; }
  std::int64_t to_other_nodes() const { return to_other_nodes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> to_other_nodes_{0};
  std::atomic<std::int64_t> rounds_{0};
  std::atomic<std::int64_t> bytes_{0};
};

/// The node of a rank of a group, by any numbers that differ where nodes do.
using NodeOf = std::function<int(int rank)>;

/// Decorates any communicator: every exchange counts one round and its sent modelled bytes, and its time is
/// recorded as wire. A collective that the inner communicator performs itself adds its declared cost instead,
/// and what goes to other nodes as the declared messages do, or as the backend says.
/// Messages to oneself and exchanges without any transfer are not counted. Spans name the group's ranks in the run, the
/// `members`, unless there are none.
std::unique_ptr<Communicator> metered(std::unique_ptr<Communicator> inner, Meter& meter, Timeline& timeline,
                                      NodeOf node_of, std::vector<int> members = {});

}  // namespace trigram
