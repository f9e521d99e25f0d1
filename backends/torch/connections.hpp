// What connects this process with the others for one run.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "backends/torch/network.hpp"

namespace trigram::torch {

/// The lanes of a run have their own, and so has each of several runs that live at once: what ends one ends no other.
class Connections {
 public:
  /// Collective, as all that follows but `carry` and `end_all`. Each call waits for others for `seconds`; 0: forever.
  Connections(const Network& network, double seconds);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// What rank 0 says, on every rank.
  nlohmann::json tell(const nlohmann::json& said) const;
  /// From now on messages of lanes 0 to `lanes` - 1 can be carried.
  void connect(int lanes) const;
  /// As Network::Carry.
  TransferError carry(int lane, std::span<const Message> messages, double seconds) const;
  /// As Network::carry_each.
  std::vector<std::size_t> carry_each(int lane, std::span<const Message> messages, double seconds) const;
  /// Ends all messages of all lanes, here and at their other ends.
  void end_all() const;
  /// Whether messages can be carried each by itself.
  bool carries_each() const { return network_.carry_each_in_c != nullptr; }
  /// As of the Network.
  bool tells_unequal_sizes() const { return network_.tells_unequal_sizes; }

 private:
  Network network_;
  int number_;
};

}  // namespace trigram::torch
