// Rank 0's side of a store over TCP.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "backends/gpu/host/socket.hpp"

namespace trigram::gpu {

/// What a request asks for.
enum class Request : unsigned char { put, claim, get, erase };

/// The first frame of a connection, which proves that both ends mean the same job: a version of this protocol, the job,
/// and the rank.
struct Greeting {
  static constexpr const char* protocol = "trigram-rendezvous-1";
  std::string job;
  int rank = 0;

  Bytes packed() const;
  /// The greeting, or why it is none that this job can take, as a sentence in `refusal`.
  static Greeting from(const Bytes& frame, const std::string& job, std::string& refusal);
};

/// Serves one thread a connection. A connection that closes without a goodbye is a dead rank: its failure is published.
class StoreServer {
 public:
  /// Throws UsageError when the port is taken.
  StoreServer(int port, std::string job);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  int port() const { return listener_.port(); }
  /// Waits until no rank but rank 0 is connected, or `seconds` have passed.
  void wait_for_farewells(double seconds);
  /// Who was turned away, as a sentence; empty where nobody was.
  std::string turned_away() const;

 private:
  struct Connection {
    Socket socket;
    std::thread thread;
  };

  void accept_all();
  void serve(Socket& socket);
  bool greet(Socket& socket, int& rank);
  Bytes answer(const Bytes& request);
  void count_out(int rank);

  const std::string job_;
  Socket listener_;
  mutable std::mutex mutex_;
  std::map<std::string, Bytes> values_;
  std::multiset<int> connected_;
  std::string turned_away_;
  std::list<Connection> connections_;
  std::thread acceptor_;
};

}  // namespace trigram::gpu
