#include "tests/support/nccl_on_host/mesh.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace nccl_on_host {
namespace {

constexpr int tick = 20;  // milliseconds between looks at `aborted`
constexpr std::size_t card_size = 256;

struct Address {
  sockaddr_un value{};
  socklen_t length;
};

/// Abstract: a name that no file stands for and that ends with its process.
Address address_of(const std::string& name, int rank) {
  Address address;
  address.value.sun_family = AF_UNIX;
  const std::string text = "trigram-nccl-" + name + "-" + std::to_string(rank);
  std::memcpy(address.value.sun_path + 1, text.data(), text.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return address;
}

int new_socket() {
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) throw std::runtime_error(std::string("no socket: ") + std::strerror(errno));
  return made;
}

bool would_block() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

Mesh::Mesh(const std::string& name, int rank, int ranks, const std::string& gpu, const std::atomic<bool>& aborted,
           Lost lost)
    : rank_(rank), aborted_(aborted), lost_(std::move(lost)), sockets_(static_cast<std::size_t>(ranks), -1) {
  const int listener = new_socket();
  const Address own = address_of(name, rank);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&own.value), own.length) != 0 || listen(listener, ranks) != 0) {
    close(listener);
    throw std::runtime_error("group " + name + " has a rank " + std::to_string(rank) + " already");
  }
  for (int peer = 0; peer < rank; ++peer) {
    const Address other = address_of(name, peer);
    const int socket = new_socket();
    while (connect(socket, reinterpret_cast<const sockaddr*>(&other.value), other.length) != 0) {
      check();
      poll(nullptr, 0, tick / 4);
    }
    meet(socket, gpu);
  }
  for (int peer = rank + 1; peer < ranks; ++peer) {
    int socket = -1;
    while ((socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) < 0) {
      check();
      pollfd one{listener, POLLIN, 0};
      poll(&one, 1, tick);
    }
    meet(socket, gpu);
  }
  close(listener);
}

Mesh::~Mesh() {
  for (const int socket : sockets_) {
    if (socket >= 0) close(socket);
  }
}

void Mesh::check() const {
  if (aborted_) throw std::runtime_error("aborted");
}

/// Both ends show their cards: "rank gpu".
void Mesh::meet(int socket, const std::string& gpu) {
  std::array<char, card_size> own{};
  std::array<char, card_size> other{};
  const std::string text = std::to_string(rank_) + " " + gpu;
  std::memcpy(own.data(), text.data(), std::min(text.size(), card_size - 1));
  std::array<std::size_t, 2> moved{};
  while (moved[0] < card_size || moved[1] < card_size) {
    check();
    const ssize_t sent = send(socket, own.data() + moved[0], card_size - moved[0], MSG_NOSIGNAL);
    if (sent > 0) moved[0] += static_cast<std::size_t>(sent);
    const ssize_t got = recv(socket, other.data() + moved[1], card_size - moved[1], 0);
    if (got > 0) moved[1] += static_cast<std::size_t>(got);
    if (got == 0) throw std::runtime_error("a peer left while the group was made");
    pollfd one{socket, POLLIN, 0};
    if (moved[1] < card_size) poll(&one, 1, tick);
  }
  const int peer = std::atoi(other.data());
  const std::string others_gpu = std::strchr(other.data(), ' ') + 1;
  sockets_.at(static_cast<std::size_t>(peer)) = socket;
  if (others_gpu == gpu) {
    throw DuplicateGpu("Duplicate GPU detected : rank " + std::to_string(rank_) + " and rank " + std::to_string(peer) +
                       " both on " + gpu);
  }
}

/// Sends or receives what it can. Whether the peer is still there.
bool Mesh::advance(Message& message, int socket) {
  const ssize_t moved = message.receive ? recv(socket, message.address, message.bytes, 0)
                                        : send(socket, message.address, message.bytes, MSG_NOSIGNAL);
  if ((moved == 0 && message.receive && message.bytes > 0) || (moved < 0 && !would_block())) return false;
  if (moved > 0) {
    message.address += moved;
    message.bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

void Mesh::move(std::vector<Message> messages) {
  while (!messages.empty()) {
    check();
    std::vector<pollfd> waits;
    bool is_whole = true;
    std::vector<char> first(2 * sockets_.size(), 1);  // only the first message of a pair and direction may move
    for (Message& message : messages) {
      const std::size_t lane = 2 * static_cast<std::size_t>(message.peer) + (message.receive ? 1 : 0);
      if (first[lane] == 0) continue;
      first[lane] = 0;
      const int socket = sockets_.at(static_cast<std::size_t>(message.peer));
      if (!advance(message, socket)) {
        lost_("peer " + std::to_string(message.peer) + " closed its connection");
        is_whole = false;  // and its bytes never come
        continue;
      }
      waits.push_back({socket, static_cast<short>(message.receive ? POLLIN : POLLOUT), 0});
    }
    const std::size_t before = messages.size();
    std::erase_if(messages, [](const Message& message) { return message.bytes == 0; });
    if (messages.size() == before) poll(waits.data(), is_whole ? waits.size() : 0, tick);
  }
}

}  // namespace nccl_on_host
