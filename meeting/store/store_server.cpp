#include "meeting/store/store_server.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

/// Connections at a time that have not proved to be of this job: all that its ranks make, and some strangers'.
std::ptrdiff_t most_unproven(int ranks) { return 64 + 2 * std::ptrdiff_t{ranks}; }

/// A rank has one connection for its calls and one for its signs of life.
constexpr std::size_t most_of_a_rank = 4;
/// In the middle of a message of a rank.
constexpr double longest_silence = 60;

/// A large job needs more descriptors than a process has at first; as many as it may take are taken.
void allow_files_for(int ranks) {
  constexpr rlim_t others = 256;
  const rlim_t wanted = others + static_cast<rlim_t>(most_unproven(ranks)) + 2 * static_cast<rlim_t>(ranks);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

const Bytes yes{std::byte{1}};
const Bytes no{std::byte{0}};

}  // namespace

StoreServer::StoreServer(const std::string& host, int port, const Member& member, Secret secret)
    : job_(member.job), ranks_(member.ranks), secret_(std::move(secret)), listener_(host, port) {
  allow_files_for(ranks_);
  acceptor_ = std::thread([this] { accept_all(); });
}

StoreServer::~StoreServer() {
  listener_.shut();
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (Connection& connection : connections_) connection.socket.shut();
  }
  for (Connection& connection : connections_) connection.thread.join();
}

void StoreServer::accept_all() {
  while (true) {
    Socket socket = listener_.accept();
    if (!socket.open()) return;
    std::unique_lock lock(mutex_);
    join_those_over();
    make_room(lock);
    Connection& connection = connections_.emplace_back();
    connection.socket = std::move(socket);
    try {
      connection.thread = std::thread([this, &connection] { serve(connection); });
    } catch (const std::system_error&) {
      connections_.pop_back();  // whoever it was may try again
    }
  }
}

/// The oldest of those that have not proved to be ours goes: a rank needs no time worth mentioning.
void StoreServer::make_room(std::unique_lock<std::mutex>& lock) {
  const auto unproven = [](const Connection& connection) { return !connection.proven && !connection.over; };
  while (std::ranges::count_if(connections_, unproven) >= most_unproven(ranks_)) {
    Connection& oldest = *std::ranges::find_if(connections_, unproven);
    oldest.socket.shut();
    changed_.wait(lock, [&] { return oldest.proven || oldest.over; });
  }
}

void StoreServer::join_those_over() {
  for (Connection& connection : connections_) {
    if (connection.over) connection.thread.join();
  }
  std::erase_if(connections_, [](const Connection& connection) { return connection.over; });
}

void StoreServer::serve(Connection& connection) {
  int rank = -1;  // from its first request on, its end is a death
  try {
    Socket& socket = connection.socket;
    const int admitted = admit(connection);
    for (Bytes request; socket.wait_for_word(), socket.read_frame(request, longest_message);) {
      if (rank < 0) count_in(rank = admitted);
      socket.write_frame(answer(request));
    }
  } catch (const std::exception&) {
    // The other end is gone or no rank of ours, which is the same as a closed connection.
    connection.socket.shut();
  }
  const std::lock_guard lock(mutex_);
  if (rank >= 0) count_out(rank);
  if (!connection.proven) ++strangers_;
  connection.socket = Socket();
  connection.over = true;
  changed_.notify_all();
}

/// The rank at the other end. Throws if there is none.
int StoreServer::admit(Connection& connection) {
  Socket& socket = connection.socket;
  socket.end_within(Handshake::seconds);
  Handshake handshake(secret_);
  const Introduction other = handshake.hear(socket);
  std::string refusal;
  {
    const std::lock_guard lock(mutex_);
    connection.proven = true;
    changed_.notify_all();
    refusal = refusal_of(other);
    if (!refusal.empty())
      turned_away_ = "a process that calls itself rank " + std::to_string(other.rank) + " was turned away: " + refusal;
  }
  handshake.answer(socket, refusal);
  if (!refusal.empty()) throw BackendError(refusal);
  socket.end_within(0);
  socket.give_up_after(longest_silence);
  return other.rank;
}

void StoreServer::count_in(int rank) {
  const std::lock_guard lock(mutex_);
  connected_.insert(rank);
}

std::string StoreServer::refusal_of(const Introduction& other) const {
  if (other.job != job_) {
    return "it belongs to job " + in_quotes(other.job) + ", not to job " + in_quotes(job_) +
           "; is another job using this port, or was this rank not restarted with the others?";
  }
  if (other.rank < 0 || other.rank >= ranks_) {
    return "it was started as rank " + std::to_string(other.rank) + " of " + std::to_string(other.ranks) +
           ", but rank 0 as one of " + std::to_string(ranks_) + "; start all of them with one number";
  }
  if (connected_.count(other.rank) >= most_of_a_rank) {
    return "rank " + std::to_string(other.rank) + " is connected " + std::to_string(most_of_a_rank) + " times already";
  }
  return "";
}

/// A request is its kind, a key up to a zero byte, and a value.
Bytes StoreServer::answer(const Bytes& request) {
  const auto end = request.empty() ? request.end() : std::find(request.begin() + 1, request.end(), std::byte{0});
  if (end == request.end()) throw BackendError("a request names no key");
  const std::string key = text_of({request.begin() + 1, end});
  const auto value = end + 1;
  const std::lock_guard lock(mutex_);
  switch (static_cast<StoreRequest>(request.front())) {
    case StoreRequest::put:
      values_[key] = Bytes(value, request.end());
      return yes;
    case StoreRequest::claim:
      return values_.try_emplace(key, value, request.end()).second ? yes : no;
    case StoreRequest::get: {
      const auto found = values_.find(key);
      if (found == values_.end()) return no;
      Bytes reply = yes;
      reply.insert(reply.end(), found->second.begin(), found->second.end());
      return reply;
    }
    case StoreRequest::erase:
      values_.erase(key);
      return yes;
  }
  throw BackendError("a request asks for nothing that we know");
}

void StoreServer::count_out(int rank) {
  connected_.erase(connected_.find(rank));
  const std::string name = std::to_string(rank);
  const bool goodbye = values_.contains("bye/" + name) || connected_.contains(rank);
  if (!goodbye) values_.try_emplace("failure", bytes_of(name + " its process has ended without a word"));
}

void StoreServer::wait_for_farewells(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                    [this] { return connected_.size() == connected_.count(0); });
}

std::string StoreServer::hint() const {
  const std::lock_guard lock(mutex_);
  std::string text = turned_away_;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (strangers_ > 0) {
    add(std::to_string(strangers_) +
        " connections were closed that did not prove to be of this job; are all ranks "
        "started with one TRIGRAM_SECRET, or by one user on one machine?");
  }
  if (listener_.local_only() && ranks_ > 1) {
    add("rank 0 listens at " + listener_.address() +
        ", which no other machine can reach; if ranks are elsewhere, name "
        "an address of rank 0's machine that they reach");
  }
  return text;
}

}  // namespace trigram
