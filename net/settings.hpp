// What the environment asks of the plugin.
#pragma once

#include <cstddef>
#include <string>

namespace trigram::net {

/// Read once, at the first init. A value that cannot be is an Error that names the variable, the value and what would
/// be right.
struct Settings {
  std::string interfaces;  ///< TRIGRAM_NET_INTERFACES, else NCCL_SOCKET_IFNAME; empty: nothing is asked for
  int family = 0;          ///< AF_INET or AF_INET6 of NCCL_SOCKET_FAMILY; 0: either, IPv4 first
  int streams = 0;  ///< of a path: TRIGRAM_NET_STREAMS, else NCCL's sockets times threads; 0: by the interface's speed
  int threads =
      -1;  ///< that move large messages: TRIGRAM_NET_THREADS, else NCCL_SOCKET_NTHREADS; -1: by speed and processors
  std::size_t chunk = 128 << 10;  ///< TRIGRAM_NET_CHUNK, bytes that a stream draws at once, a power of two
  std::size_t unsent =
      64 << 10;  ///< TRIGRAM_NET_UNSENT, least bytes that may wait in the kernel for a path, before they are sent
  double timeout = 30;  ///< TRIGRAM_NET_TIMEOUT, seconds without any path to a peer until it counts as lost
  int speed = 0;        ///< TRIGRAM_NET_SPEED, Mbit/s to tell NCCL; 0: what interfaces say
  std::string metrics;  ///< TRIGRAM_NET_METRICS, a file; %p in it is the process's number
};

Settings settings_of_environment();

}  // namespace trigram::net
