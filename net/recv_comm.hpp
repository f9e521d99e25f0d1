// The receiving end of a connection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/comm.hpp"
#include "net/settings.hpp"
#include "net/statistics.hpp"
#include "net/stream/inbox.hpp"
#include "net/stream/stream.hpp"

namespace trigram::net {

/// Takes chunks from all streams of one peer, wherever they belong.
class RecvComm final : public Comm {
 public:
  /// `keeps_alive` is where lost streams come back to.
  RecvComm(int streams, const Settings& settings, std::shared_ptr<void> keeps_alive);

  /// A stream of the peer, in place of one that it had before.
  void adopt(int stream, Socket socket);
  bool has_all_streams();
  int streams() const { return static_cast<int>(inlets_.size()); }

  /// Null where 32 requests are under way.
  Request* irecv(int count, void* const* data, const std::size_t* sizes, const int* tags);

  void close() override;
  bool tick(Clock::time_point now) override;

 protected:
  bool progress(Clock::time_point now) override;

 private:
  /// One stream.
  struct Inlet {
    Stream stream;
    PathCounters* counters = nullptr;
    std::uint64_t chunks = 0;  ///< of this connection
    std::uint64_t acknowledged = 0;
    std::uint64_t bytes = 0;  ///< since the last acknowledgement
    bool is_due = false;      ///< an acknowledgement
    unsigned quiet = 0;       ///< times that nothing had come
  };
  class Arrivals;

  void read(Inlet& inlet, Clock::time_point now);
  void acknowledge(Inlet& inlet, bool whatever);
  void give_credit(std::int32_t tag, bool at_once);
  Inlet* answering();
  void lose(Inlet& inlet, Clock::time_point now, Moved how);
  void fail_if_alone(Clock::time_point now);

  Settings settings_;
  std::shared_ptr<void> keeps_alive_;
  Inbox inbox_;
  std::vector<Inlet> inlets_;
  std::size_t last_heard_ = 0;
  unsigned passes_ = 0;
  int large_expected_ = 32;  ///< receives for which the sender may wait to hear of them
  bool peer_left_ = false;
  bool timed_out_ = false;
  bool closed_ = false;
  Clock::time_point last_open_;
};

}  // namespace trigram::net
