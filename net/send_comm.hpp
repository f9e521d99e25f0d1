// The sending end of a connection.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "net/comm.hpp"
#include "net/connection/handle.hpp"
#include "net/stream/outlet.hpp"

namespace trigram::net {

/// Streams over all paths to one peer draw chunks from one queue: a slow one draws few, and none that another is sooner
/// done with; one that stalls draws none.
class SendComm final : public Comm {
 public:
  /// Begins to connect. Throws Error where no interface can reach an address of the handle.
  SendComm(const Handle& peer, const std::vector<Interface>& interfaces, const Settings& settings);

  /// Whether messages can be sent. Throws Error if the peer cannot be reached.
  bool connected();
  /// Null where 32 requests, or too many small messages, are under way.
  Request* isend(const void* data, std::size_t size, int tag);

  void close() override;
  bool tick(Clock::time_point now) override;

 protected:
  bool progress(Clock::time_point now) override;

 private:
  class Replies;

  static std::deque<Outlet> outlets_to(const Handle& peer, const std::vector<Interface>& interfaces,
                                       const Settings& settings);

  std::uint64_t carried() const;
  double fastest_rate() const;
  void dial(Clock::time_point now);
  void looked(Clock::time_point now);
  void write_all(Clock::time_point now);
  void write(Outlet& outlet, Clock::time_point now);
  void read(Outlet& outlet, Clock::time_point now);
  std::optional<Drawn> draw(Outlet& outlet, Clock::time_point now);
  bool leaves(Outlet& outlet, std::uint64_t length, std::uint64_t queued, Clock::time_point now);
  std::optional<Drawn> repeat(const Outlet& idle, Clock::time_point now);
  void arrived(const Drawn& drawn);
  void lose(Outlet& outlet, Clock::time_point now, const std::string& reason);
  void lose_stalled(Clock::time_point now);
  void ask_for_receive(Clock::time_point now);
  void say_bye();
  bool is_over(Clock::time_point now) const;
  std::string reasons() const;

  Settings settings_;
  std::deque<Outlet> outlets_;
  Outbox outbox_;
  std::vector<Outlet*> fastest_first_;
  std::vector<Way> ways_;  ///< of one question
  Clock::time_point begun_;
  Clock::time_point last_open_;
  Clock::time_point asked_{};
  Clock::time_point looked_;
  Clock::duration gap_{};  ///< the longest between two looks lately, while something was under way
  bool busy_ = false;      ///< at the last look
  std::size_t asks_ = 0;
  bool peer_left_ = false;
  std::optional<Clock::time_point> closed_;
};

}  // namespace trigram::net
