// A connection of TCP and nothing else, to compare round trips with.
#pragma once

#include <cstddef>
#include <vector>

#include "net/socket.hpp"
#include "tests/net/two_processes.hpp"

namespace trigram::tests {

class BareSocket {
 public:
  BareSocket() = default;
  /// Connects both processes over loopback; the first one listens.
  BareSocket(const Pipes& pipes, bool first);
  /// A message and its answer, or the other way round, asking again and again as the plugin does.
  void bounce(std::vector<std::byte>& memory, bool first);

 private:
  void move_all(std::vector<std::byte>& memory, bool sends);

  net::Socket socket_;
};

}  // namespace trigram::tests
