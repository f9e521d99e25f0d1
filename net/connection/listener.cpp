#include "net/connection/listener.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <string>

#include "net/log.hpp"

namespace trigram::net {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_strangers = 256;
constexpr auto hello_within = 3s;
constexpr auto streams_within = 500ms;

}  // namespace

Listener::Listener(const std::vector<Interface>& interfaces, const Settings& settings) : settings_(settings) {
  handle_.asks = random_token();
  handle_.answers = random_token();
  for (const auto& interface : interfaces) {
    Address address = interface.address;
    sockets_.push_back(Socket::listening(address));
    handle_.addresses.push_back(address);
  }
}

std::shared_ptr<RecvComm> Listener::accept() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  progress(now);
  const auto ready = std::find_if(arriving_.begin(), arriving_.end(), [&](const Arriving& one) {
    return one.comm->has_all_streams() || now - one.since > streams_within;
  });
  if (ready == arriving_.end()) return nullptr;
  auto comm = std::move(ready->comm);
  arriving_.erase(ready);
  return comm;
}

void Listener::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& one : arriving_) one.comm->close();
  arriving_.clear();
}

bool Listener::tick(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  progress(now);
  std::erase_if(known_, [](const auto& one) { return one.second.expired(); });
  return !closed_ || !known_.empty();
}

void Listener::progress(Clock::time_point now) {
  for (const auto& socket : sockets_) {
    for (Socket come = socket.accept(); come.open() && strangers_.size() < max_strangers; come = socket.accept()) {
      strangers_.push_back({std::move(come), {}, 0, now + hello_within});
    }
  }
  std::erase_if(strangers_, [&](Stranger& one) { return over(one, now); });
}

/// Whether it has become a peer, or will not.
bool Listener::over(Stranger& stranger, Clock::time_point now) {
  const iovec rest{stranger.hello.data() + stranger.heard, hello_bytes - stranger.heard};
  iovec part = rest;
  const Moved moved = stranger.socket.receive({&part, 1}, stranger.heard);
  if (moved != Moved::some && moved != Moved::nothing_yet) {
    refuse("it hung up before it had said who it is");
    return true;
  }
  if (stranger.heard < hello_bytes) {
    if (now > stranger.deadline) refuse("it did not say who it is");
    return now > stranger.deadline;
  }
  const auto hello = read_hello(stranger.hello);
  if (!hello) {
    refuse("it does not speak as this plugin");
  } else if (!same_token(hello->asks, handle_.asks)) {
    refuse("it does not know the handle");
  } else {
    welcome(*hello, std::move(stranger.socket), now);
  }
  return true;
}

void Listener::refuse(const char* reason) {
  if (!std::exchange(warned_, true))
    warn(std::string("dropped a stranger: ") + reason + "; later ones are dropped without a word");
}

void Listener::welcome(const Hello& hello, Socket socket, Clock::time_point now) {
  const auto comm = comm_of(hello, now);
  if (!comm || hello.streams != comm->streams()) return;
  iovec answer{handle_.answers.data(), handle_.answers.size()};
  std::size_t bytes = 0;
  if (socket.send({&answer, 1}, bytes) == Moved::some && bytes == handle_.answers.size())
    comm->adopt(hello.stream, std::move(socket));
}

std::shared_ptr<RecvComm> Listener::comm_of(const Hello& hello, Clock::time_point now) {
  if (const auto known = known_.find(hello.connection); known != known_.end()) return known->second.lock();
  if (closed_) return nullptr;
  auto comm = std::make_shared<RecvComm>(hello.streams, settings_, shared_from_this());
  known_.emplace(hello.connection, comm);
  arriving_.push_back({comm, now});
  return comm;
}

}  // namespace trigram::net
