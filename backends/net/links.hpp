// The connections of one run: of each lane, one each way between each two ranks.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <span>

#include "backends/net/flight.hpp"
#include "meeting/rendezvous.hpp"

namespace trigram::net_backend {

/// Any thread may carry, on any lane; connecting is for the thread that makes the run.
class Links {
 public:
  /// `seconds` that connecting waits for others; 0: forever.
  Links(LoadedPlugin& plugin, Rendezvous& rendezvous, double seconds)
      : plugin_(plugin), rendezvous_(rendezvous), seconds_(seconds) {}
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  double seconds() const { return seconds_; }
  /// Until there are so many lanes. Collective.
  void connect(int lanes);
  /// As torch::Network::carry. Where it fails, connections with messages under way are closed, since a plugin reads
  /// and writes their memory until then.
  torch::TransferError carry(int lane, std::span<const torch::Message> messages, double seconds);
  /// Ends what is carried, now and later.
  void end() { ended_ = true; }

 private:
  /// By rank; the place of this one stays empty.
  struct Lane {
    explicit Lane(int ranks) : sends(static_cast<std::size_t>(ranks)), receives(static_cast<std::size_t>(ranks)) {}
    std::deque<CommEnd> sends, receives;
    std::deque<CommEnd>& ends(bool receiving) { return receiving ? receives : sends; }
  };
  class Listening;

  Lane& lane(int index);

  LoadedPlugin& plugin_;
  Rendezvous& rendezvous_;
  double seconds_;
  std::mutex mutex_;
  std::deque<Lane> lanes_;
  std::atomic<bool> ended_ = false;
};

}  // namespace trigram::net_backend
