// What a simulated run counts for its facts: bytes through NICs, collectives by their form, choices of a library.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "backends/sim/platform/platform.hpp"
#include "core/lane/collective.hpp"
#include "core/lane/message_count.hpp"

namespace trigram::sim {

class Traffic {
 public:
  Traffic(const Cluster& cluster, const Platform& platform);

  /// Counts a message between ranks of the world for the NICs that it crosses.
  void count(int from, int to, std::int64_t bytes) {
    auto& messages = message_count();
    messages.store(messages.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const std::vector<int>& node = platform_.node_of_rank;
    if (node[static_cast<std::size_t>(from)] == node[static_cast<std::size_t>(to)]) return;
    sent_[static_cast<std::size_t>(platform_.nic_of(from))] += bytes;
    received_[static_cast<std::size_t>(platform_.nic_of(to))] += bytes;
  }
  /// Notes that a collective ran, and as what.
  void note(Collective collective, bool fluid) {
    (fluid ? fluid_ : exact_)[static_cast<std::size_t>(collective)] = true;
  }

  /// A collective of a library that chooses by size: where it ran, and for vectors of how many bytes.
  struct Chosen {
    Collective collective;
    int ranks, nodes;
    std::int64_t bytes;
    auto operator<=>(const Chosen&) const = default;
  };
  /// Notes what was chosen, which is asked for once.
  template <class Choice>
  void note_choice(const Chosen& chosen, const Choice& choice) {
    if (!choices_.contains(chosen)) choices_.emplace(chosen, choice());
  }

  /// Adds all of it to the facts of a run.
  void add_to(nlohmann::json& facts) const;
  /// A sentence where each GPU has a NIC and no node sent through all of its own; empty otherwise.
  std::string idle_rails() const;

 private:
  nlohmann::json busiest_nic() const;

  const Cluster& cluster_;
  const Platform& platform_;
  std::vector<std::int64_t> sent_, received_;  ///< by NIC
  std::array<bool, collective_count> exact_{}, fluid_{};
  std::map<Chosen, std::string> choices_;
};

}  // namespace trigram::sim
