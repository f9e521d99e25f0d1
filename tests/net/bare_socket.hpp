// A connection of TCP and nothing else, to compare round trips with.
#pragma once

#include <cstddef>
#include <vector>

#include "net/connection/socket.hpp"
#include "tests/net/two_processes.hpp"

namespace trigram::tests {

class BareSocket {
 public:
  BareSocket() = default;
  /// Connects both processes over loopback; the first one listens. With a connection each way, as communicators of NCCL
  /// have it, answers bring no acknowledgements along. `hurried`: with the plugin's control of congestion within a
  /// host.
  BareSocket(const Pipes& pipes, bool first, bool each_way, bool hurried);
  /// A message and its answer, or the other way round, asking again and again as the plugin does.
  void bounce(std::vector<std::byte>& memory, bool first);

 private:
  net::Socket forth_;
  net::Socket back_;  ///< not open where one goes both ways
};

}  // namespace trigram::tests
