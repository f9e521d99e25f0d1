#include "tests/net/bare_socket.hpp"

#include <netinet/in.h>
#include <sys/uio.h>
#include <unistd.h>

#include <stdexcept>

namespace trigram::tests {

BareSocket::BareSocket(const Pipes& pipes, bool first) {
  net::Interface loopback{"lo", {}, 8, 0, ""};
  auto& address = reinterpret_cast<sockaddr_in&>(loopback.address.storage);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (first) {
    net::Address own = loopback.address;
    const auto listener = net::Socket::listening(own);
    pipes.write(&own, sizeof own);
    while (!socket_.open()) socket_ = listener.accept();
  } else {
    net::Address to;
    pipes.read(&to, sizeof to);
    socket_ = net::Socket::connecting(loopback, to);
    while (socket_.connected() == net::Moved::nothing_yet) {
    }
  }
  socket_.prepare(1 << 20, 30);
}

void BareSocket::move_all(std::vector<std::byte>& memory, bool sends) {
  for (std::size_t bytes = 0; bytes < memory.size();) {
    iovec part{memory.data() + bytes, memory.size() - bytes};
    const auto moved = sends ? socket_.send({&part, 1}, bytes) : socket_.receive({&part, 1}, bytes);
    if (moved == net::Moved::closed) throw std::runtime_error("the other process is gone");
  }
}

void BareSocket::bounce(std::vector<std::byte>& memory, bool first) {
  move_all(memory, first);
  move_all(memory, !first);
}

}  // namespace trigram::tests
