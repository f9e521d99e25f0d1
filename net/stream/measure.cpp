#include "net/stream/measure.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "net/connection/socket.hpp"
#include "net/error.hpp"

namespace trigram::net {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

/// Until a host counts as one whose TCP does not work; one that others use much is only slow.
constexpr auto patience = 30s;

/// Both ends of a connection of this host to itself.
struct Pair {
  Socket one;
  Socket other;
};

Pair connected_pair(const Interface& interface) {
  Address address = interface.address;
  const Socket listener = Socket::listening(address);
  Pair pair{Socket::connecting(interface, address), {}};
  const auto deadline = Clock::now() + patience;
  while (!pair.other.open()) {
    if (!pair.one.open() || Clock::now() > deadline)
      throw Error(abi::Result::system_error, interface.name + " does not reach itself");
    pair.other = listener.accept();
  }
  for (const Socket* end : {&pair.one, &pair.other}) {
    end->prepare(1 << 20, 30);
    end->hurry_within_host();
  }
  return pair;
}

/// Moves so many bytes by whatever `move` does, within a second.
void move_all(std::size_t bytes, auto&& move) {
  const auto deadline = Clock::now() + patience;
  for (std::size_t moved = 0; moved < bytes;) {
    if (move(moved) == Moved::closed || Clock::now() > deadline)
      throw Error(abi::Result::system_error, "this host's TCP does not move");
  }
}

}  // namespace

double measured_latency_us(const Interface& interface) {
  const Pair pair = connected_pair(interface);
  std::vector<double> times;
  std::byte word[8]{};
  iovec part{word, sizeof word};
  const auto hop = [&](const Socket& from, const Socket& to) {
    move_all(sizeof word, [&](std::size_t& moved) { return from.send({&part, 1}, moved); });
    move_all(sizeof word, [&](std::size_t& moved) { return to.receive({&part, 1}, moved); });
  };
  for (int i = 0; i < 65; ++i) {
    const auto begin = Clock::now();
    hop(pair.one, pair.other);
    times.push_back(Microseconds(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + 32, times.end());
  return times[32];
}

double measured_speed_mbps(const Interface& interface) {
  const Pair pair = connected_pair(interface);
  constexpr std::size_t total = 16 << 20;
  std::vector<std::byte> bytes(256 << 10);
  std::size_t sent = 0;
  const auto begin = Clock::now();
  move_all(total, [&](std::size_t& received) {
    iovec out{bytes.data(), std::min(bytes.size(), total - sent)};
    if (out.iov_len > 0 && pair.one.send({&out, 1}, sent) == Moved::closed) return Moved::closed;
    iovec in{bytes.data(), bytes.size()};
    return pair.other.receive({&in, 1}, received);
  });
  return 8 * static_cast<double>(total) / Microseconds(Clock::now() - begin).count();
}

}  // namespace trigram::net
