// Rank 0's side of a store over TCP.
#pragma once

#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "meeting/handshake.hpp"
#include "meeting/listener.hpp"

namespace trigram {

/// What a request asks for.
enum class StoreRequest : unsigned char { put, claim, get, erase };

/// The longest request and answer.
inline constexpr std::uint64_t longest_message = std::uint64_t{1} << 30;

/// Serves one thread a connection. A connection of a rank that closes without a goodbye is a dead rank: its failure is
/// published. Connections that have not proved yet to be of this job are few at a time, the newest ones, and short.
class StoreServer {
 public:
  /// Listens at the addresses of `host`. Throws UsageError when it cannot.
  StoreServer(const std::string& host, int port, const Member& member, Secret secret);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  int port() const { return listener_.port(); }
  const std::string& address() const { return listener_.address(); }
  /// Waits until no rank but rank 0 is connected, or `seconds` have passed.
  void wait_for_farewells(double seconds);
  /// Why a rank may not have come, as a sentence: who was turned away, and who cannot connect.
  std::string hint() const;

 private:
  struct Connection {
    Socket socket;
    bool proven = false;
    bool over = false;
    std::thread thread;
  };

  void accept_all();
  void make_room(std::unique_lock<std::mutex>& lock);
  void join_those_over();
  void serve(Connection& connection);
  int admit(Connection& connection);
  std::string refusal_of(const Introduction& other) const;
  Bytes answer(const Bytes& request);
  void count_in(int rank);
  void count_out(int rank);

  const std::string job_;
  const int ranks_;
  const Secret secret_;
  Listener listener_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Bytes> values_;
  std::multiset<int> connected_;
  int strangers_ = 0;
  std::string turned_away_;
  std::list<Connection> connections_;
  std::thread acceptor_;
};

}  // namespace trigram
