// One of the streams that a sending communicator has: its path, how it is dialled again, and what is under way on it.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "net/connection/dial.hpp"
#include "net/statistics.hpp"
#include "net/stream/outbox.hpp"
#include "net/stream/stream.hpp"
#include "net/stream/unsent_limit.hpp"
#include "net/stream/way.hpp"

namespace trigram::net {

class Outlet {
 public:
  Outlet(const Path& path, const Hello& hello, const Token& answers, const Settings& settings)
      : path_(path), hello_(hello), answers_(answers), settings_(settings) {}

  bool open() const { return stream.open(); }
  /// Dials where it is not open and it is time to. True if it has just been opened.
  bool dial(Clock::time_point now);
  /// Ends the connection. It will be dialled again.
  void lose(Clock::time_point now, const std::string& reason);
  /// The same after the peer has said goodbye: nothing is lost.
  void end(Clock::time_point now, const std::string& reason);

  /// Writes a chunk that was drawn.
  void begin(Drawn drawn);
  /// The receiver has so many chunks of this connection. Hands on those that it did not have before; false if there are
  /// not so many.
  template <typename Arrived>
  bool acknowledged(std::uint64_t count, Clock::time_point now, Arrived&& arrived);
  /// A chunk whose bytes may not be read any more, if it is being written.
  void forget(const Message& message);
  /// A chunk that has been under way for longer than that, and on no other stream.
  Drawn* oldest_before(Clock::time_point time);

  /// Looks at what the kernel knows. Callers come again after at most `gap`.
  void measure(Clock::time_point now, Clock::duration gap);
  /// Something is under way, and nothing of it has been acknowledged for so long.
  bool stalled(Clock::time_point now, Clock::duration time) const;
  bool moved_since(Clock::time_point time) const { return open() && last_moved_ >= time; }
  std::uint32_t round_trip_us() const { return round_trip_us_; }
  /// Bytes a second, when it was last looked at; 0: not known.
  double rate() const { return rate_; }
  /// What others may count on; its rate is not known where something should have moved by now and has not.
  Way way(Clock::time_point now);
  /// What a chunk takes from being drawn to its acknowledgement, smoothed.
  Clock::duration delivery() const { return delivery_; }
  std::string name() const { return path_.from.name + " " + path_.from.address.text() + " to " + path_.to.text(); }
  const std::string& reason() const { return reason_; }
  /// The peer's host answers, and the peer is not there any more.
  bool refused() const { return !open() && refused_; }

  Stream stream;
  std::deque<Drawn> under_way;
  PathCounters* counters = nullptr;

 private:
  void opened(Socket socket, Clock::time_point now);
  void delivered(Clock::duration took);

  Path path_;
  Hello hello_;
  Token answers_;
  Settings settings_;
  std::optional<Dial> dial_;
  Clock::time_point next_dial_{};
  Clock::duration pause_ = std::chrono::milliseconds(100);
  std::string reason_;
  bool refused_ = false;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t moved_bytes_ = 0;
  UnsentLimit unsent_{settings_.unsent};
  Clock::time_point measured_{};
  Clock::time_point last_moved_{};
  std::uint32_t round_trip_us_ = 0;
  double rate_ = 0;
  Backlog backlog_;
  Clock::duration delivery_{};
};

template <typename Arrived>
bool Outlet::acknowledged(std::uint64_t count, Clock::time_point now, Arrived&& arrived) {
  if (count < acknowledged_ || count - acknowledged_ > under_way.size()) return false;
  last_moved_ = now;
  for (; acknowledged_ < count; ++acknowledged_) {
    const Drawn drawn = std::move(under_way.front());
    under_way.pop_front();
    delivered(now - drawn.at);
    arrived(drawn);
  }
  return true;
}

}  // namespace trigram::net
