#include "backends/gpu/host/store_server.hpp"

#include <chrono>
#include <sstream>

#include "core/error.hpp"

namespace trigram::gpu {
namespace {

constexpr std::uint64_t longest_greeting = 4096;
constexpr std::uint64_t longest_request = std::uint64_t{1} << 40;
constexpr double greeting_seconds = 10;

const Bytes yes{std::byte{1}};
const Bytes no{std::byte{0}};

}  // namespace

Bytes Greeting::packed() const { return bytes_of(std::string(protocol) + "\n" + std::to_string(rank) + "\n" + job); }

Greeting Greeting::from(const Bytes& frame, const std::string& job, std::string& refusal) {
  std::istringstream text(text_of(frame));
  std::string spoken;
  std::string rank;
  Greeting greeting;
  std::getline(text, spoken);
  std::getline(text, rank);
  std::getline(text, greeting.job);
  greeting.rank = std::atoi(rank.c_str());
  if (spoken != protocol) {
    refusal =
        "it speaks '" + spoken.substr(0, 32) + "', not " + protocol + "; all ranks must run one version of Trigram";
  } else if (greeting.job != job) {
    refusal = "it belongs to job '" + greeting.job + "', not to job '" + job +
              "'; is another job using this port, or was this rank not restarted with the others?";
  }
  return greeting;
}

StoreServer::StoreServer(int port, std::string job)
    : job_(std::move(job)), listener_(Socket::listen_on(port)), acceptor_([this] { accept_all(); }) {}

StoreServer::~StoreServer() {
  listener_.shut();
  acceptor_.join();
  for (Connection& connection : connections_) connection.socket.shut();
  for (Connection& connection : connections_) connection.thread.join();
}

void StoreServer::accept_all() {
  while (true) {
    Socket socket = listener_.accept();
    if (!socket.open()) return;
    Connection& connection = connections_.emplace_back(Connection{std::move(socket), {}});
    connection.thread = std::thread([this, &connection] { serve(connection.socket); });
  }
}

void StoreServer::serve(Socket& socket) {
  int rank = -1;
  try {
    if (!greet(socket, rank)) return socket.shut();
    Bytes request;
    while (socket.read_frame(request, longest_request)) socket.write_frame(answer(request));
  } catch (const std::exception&) {
    socket.shut();  // the other end is gone; what that means is the same as a closed connection
  }
  if (rank >= 0) count_out(rank);
}

bool StoreServer::greet(Socket& socket, int& rank) {
  socket.give_up_after(greeting_seconds);
  Bytes frame;
  if (!socket.read_frame(frame, longest_greeting)) return false;
  std::string refusal;
  const Greeting greeting = Greeting::from(frame, job_, refusal);
  socket.write_frame(bytes_of(refusal));
  const std::lock_guard lock(mutex_);
  if (!refusal.empty()) {
    turned_away_ = "a process that calls itself rank " + std::to_string(greeting.rank) + " was turned away: " + refusal;
    return false;
  }
  socket.give_up_after(0);
  rank = greeting.rank;
  connected_.insert(rank);
  return true;
}

/// A request is its kind, a key up to a zero byte, and a value.
Bytes StoreServer::answer(const Bytes& request) {
  const std::string text = text_of(request);
  const std::size_t end = text.find('\0', 1);
  if (end == std::string::npos) throw BackendError("a request names no key");
  const std::string key = text.substr(1, end - 1);
  const auto value = request.begin() + static_cast<std::ptrdiff_t>(end) + 1;
  const std::lock_guard lock(mutex_);
  switch (static_cast<Request>(request.front())) {
    case Request::put:
      values_[key] = Bytes(value, request.end());
      return yes;
    case Request::claim:
      return values_.try_emplace(key, value, request.end()).second ? yes : no;
    case Request::get: {
      const auto found = values_.find(key);
      if (found == values_.end()) return no;
      Bytes reply = yes;
      reply.insert(reply.end(), found->second.begin(), found->second.end());
      return reply;
    }
    case Request::erase:
      values_.erase(key);
      return yes;
  }
  throw BackendError("a request asks for nothing that we know");
}

void StoreServer::count_out(int rank) {
  const std::lock_guard lock(mutex_);
  connected_.erase(connected_.find(rank));
  const std::string name = std::to_string(rank);
  const bool goodbye = values_.contains("bye/" + name) || connected_.contains(rank);
  if (!goodbye) values_.try_emplace("failure", bytes_of(name + " its process has ended without a word"));
}

void StoreServer::wait_for_farewells(double seconds) {
  constexpr std::chrono::milliseconds pause{10};
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(seconds)) {
    {
      const std::lock_guard lock(mutex_);
      if (connected_.size() == connected_.count(0)) return;
    }
    std::this_thread::sleep_for(pause);
  }
}

std::string StoreServer::turned_away() const {
  const std::lock_guard lock(mutex_);
  return turned_away_;
}

}  // namespace trigram::gpu
