#include "tests/net/bare_socket.hpp"

#include <netinet/in.h>
#include <sys/uio.h>
#include <unistd.h>

#include <stdexcept>

namespace trigram::tests {

namespace {

/// The first process listens.
net::Socket connected(const Pipes& pipes, bool first, bool hurried) {
  net::Interface loopback{"lo", {}, 8, 0, ""};
  auto& address = reinterpret_cast<sockaddr_in&>(loopback.address.storage);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  net::Socket socket;
  if (first) {
    net::Address own = loopback.address;
    const auto listener = net::Socket::listening(own);
    pipes.write(&own, sizeof own);
    while (!socket.open()) socket = listener.accept();
  } else {
    net::Address to;
    pipes.read(&to, sizeof to);
    socket = net::Socket::connecting(loopback, to);
    while (socket.connected() == net::Moved::nothing_yet) {
    }
  }
  socket.prepare(1 << 20, 30);
  if (hurried) socket.hurry_within_host();
  return socket;
}

void move_all(const net::Socket& socket, std::vector<std::byte>& memory, bool sends) {
  for (std::size_t bytes = 0; bytes < memory.size();) {
    iovec part{memory.data() + bytes, memory.size() - bytes};
    const auto moved = sends ? socket.send({&part, 1}, bytes) : socket.receive({&part, 1}, bytes);
    if (moved == net::Moved::closed) throw std::runtime_error("the other process is gone");
  }
}

}  // namespace

BareSocket::BareSocket(const Pipes& pipes, bool first, bool each_way, bool hurried)
    : forth_(connected(pipes, first, hurried)), back_(each_way ? connected(pipes, first, hurried) : net::Socket()) {}

void BareSocket::bounce(std::vector<std::byte>& memory, bool first) {
  move_all(forth_, memory, first);
  move_all(back_.open() ? back_ : forth_, memory, !first);
}

}  // namespace trigram::tests
