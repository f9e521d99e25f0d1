// Where rank 0 listens: at the addresses of one host name, and at no other.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "meeting/addresses.hpp"
#include "meeting/socket.hpp"

namespace trigram {

/// Listens at every address of a name that this machine has.
class Listener {
 public:
  /// Port 0 is any free one. "0.0.0.0" and "::" are all addresses. Throws UsageError for a name that stands for no
  /// address of this machine, and for a port that is taken.
  Listener(const std::string& host, int port);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }
  /// One of the addresses, as numbers.
  const std::string& address() const { return addresses_.front(); }
  /// Whether processes of this machine alone can connect.
  bool local_only() const { return local_only_; }
  /// The next connection; a closed Socket once this was shut. Where descriptors or memory are short it waits until
  /// there are some.
  Socket accept();
  /// Ends `accept` in another thread.
  void shut();

 private:
  int listen_at(const addrinfo& address);

  std::vector<int> descriptors_;
  int port_;
  std::vector<std::string> addresses_;
  bool local_only_ = true;
  std::atomic<bool> shut_ = false;
};

}  // namespace trigram
