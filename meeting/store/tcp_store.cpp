#include "meeting/store/tcp_store.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

TcpStore::TcpStore(const std::string& host, int port, const Member& member, double seconds, TcpTimes times)
    : TcpStore(member.rank == 0 ? std::make_unique<StoreServer>(host, port, member, Secret::of(member)) : nullptr, host,
               port, member, Secret::of(member), seconds, times) {}

TcpStore::TcpStore(std::unique_ptr<StoreServer> server, std::string host, int port, Member member, Secret secret,
                   double seconds, TcpTimes times)
    : server_(std::move(server)),
      host_(std::move(host)),
      port_(server_ == nullptr ? port : server_->port()),
      member_(std::move(member)),
      secret_(std::move(secret)),
      times_(times),
      socket_(reach(seconds)) {
  socket_.end_within(0);
  socket_.give_up_after(times_.answer);
}

/// A connection on which both ends know each other.
Socket TcpStore::reach(double seconds) const {
  using Steady = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds longest{1000};
  const Steady::time_point begin = Steady::now();
  std::chrono::milliseconds pause{10};
  std::string reason = "no address";
  while (true) {
    Socket socket = Socket::connect_to(server_ == nullptr ? host_ : server_->address(), port_, reason);
    if (socket.open()) {
      try {
        socket.end_within(Handshake::seconds);
        Handshake(secret_).introduce(socket, {member_.rank, member_.ranks, member_.job}, place());
        return socket;
      } catch (const BackendError& error) {
        reason = error.what();
      }
    }
    if (seconds > 0 && Steady::now() - begin > std::chrono::duration<double>(seconds)) break;
    std::this_thread::sleep_for(pause);
    pause = std::min(longest, pause * 2);
  }
  throw BackendError("rank " + std::to_string(member_.rank) + " has waited " +
                     std::to_string(static_cast<int>(std::lround(seconds))) +
                     " s for rank 0, which did not answer at " + shown(host_) + ":" + std::to_string(port_) + " (" +
                     reason + "); is it started, and can this host reach that port?");
}

Bytes TcpStore::ask(StoreRequest request, const std::string& key, const Bytes& value) {
  Bytes frame{static_cast<std::byte>(request)};
  const Bytes name = bytes_of(key);
  frame.insert(frame.end(), name.begin(), name.end());
  frame.push_back(std::byte{0});
  frame.insert(frame.end(), value.begin(), value.end());
  if (frame.size() >= longest_message) {
    throw BackendError("rank " + std::to_string(member_.rank) + " has " + std::to_string(value.size()) +
                       " bytes for the others, and the rendezvous carries up to " + std::to_string(longest_message));
  }
  const std::lock_guard lock(mutex_);
  Bytes answer;
  socket_.write_frame(frame);
  if (!socket_.read_frame(answer, longest_message) || answer.empty())
    throw BackendError("rank 0 at " + place() + " has closed the connection");
  return answer;
}

void TcpStore::put(const std::string& key, const Bytes& value) { ask(StoreRequest::put, key, value); }

bool TcpStore::claim(const std::string& key, const Bytes& value) {
  return ask(StoreRequest::claim, key, value).front() != std::byte{0};
}

std::optional<Bytes> TcpStore::get(const std::string& key) {
  const Bytes answer = ask(StoreRequest::get, key, {});
  if (answer.front() == std::byte{0}) return std::nullopt;
  return Bytes(answer.begin() + 1, answer.end());
}

void TcpStore::erase(const std::string& key) { ask(StoreRequest::erase, key, {}); }

std::unique_ptr<Store> TcpStore::another() {
  const std::string& host = server_ == nullptr ? host_ : server_->address();
  return std::unique_ptr<Store>(new TcpStore(nullptr, host, port_, member_, secret_, times_.answer, times_));
}

void TcpStore::close(bool /*failed*/) {
  if (server_ != nullptr) server_->wait_for_farewells(times_.farewell);
}

std::string TcpStore::place() const { return "tcp:" + printable(host_) + ":" + std::to_string(port_); }

}  // namespace trigram
