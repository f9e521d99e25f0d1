#include "backends/gpu/host/tcp_store.hpp"

#include "core/error.hpp"

namespace trigram::gpu {
namespace {

constexpr std::uint64_t longest_answer = std::uint64_t{1} << 40;
/// The server answers from memory; one that says nothing for so long is gone.
constexpr double answer_seconds = 6;
constexpr double farewell_seconds = 3;

}  // namespace

TcpStore::TcpStore(const std::string& host, int port, const std::string& job, int rank, double seconds)
    : TcpStore(rank == 0 ? std::make_unique<StoreServer>(port, job) : nullptr, host, port, job, rank, seconds) {}

TcpStore::TcpStore(std::unique_ptr<StoreServer> server, std::string host, int port, std::string job, int rank,
                   double seconds)
    : server_(std::move(server)),
      host_(std::move(host)),
      port_(port),
      job_(std::move(job)),
      rank_(rank),
      socket_(Socket::connect_to(rank == 0 ? "localhost" : host_, port_, seconds)) {
  socket_.give_up_after(answer_seconds);
  Bytes answer;
  socket_.write_frame(Greeting{job_, rank_}.packed());
  if (!socket_.read_frame(answer, longest_answer)) {
    throw BackendError("what listens at " + host_ + ":" + std::to_string(port_) +
                       " hangs up; is it rank 0 of this job?");
  }
  const std::string refusal = text_of(answer);
  require(refusal.empty(), "rank 0 at " + host_ + ":" + std::to_string(port_) + " turns this process, rank " +
                               std::to_string(rank) + ", away: " + refusal);
}

Bytes TcpStore::ask(Request request, const std::string& key, const Bytes& value) {
  Bytes frame{static_cast<std::byte>(request)};
  const Bytes name = bytes_of(key);
  frame.insert(frame.end(), name.begin(), name.end());
  frame.push_back(std::byte{0});
  frame.insert(frame.end(), value.begin(), value.end());
  const std::lock_guard lock(mutex_);
  Bytes answer;
  socket_.write_frame(frame);
  if (!socket_.read_frame(answer, longest_answer))
    throw BackendError("rank 0 at " + place() + " has closed the connection");
  return answer;
}

void TcpStore::put(const std::string& key, const Bytes& value) { ask(Request::put, key, value); }

bool TcpStore::claim(const std::string& key, const Bytes& value) {
  return ask(Request::claim, key, value).front() != std::byte{0};
}

std::optional<Bytes> TcpStore::get(const std::string& key) {
  const Bytes answer = ask(Request::get, key, {});
  if (answer.front() == std::byte{0}) return std::nullopt;
  return Bytes(answer.begin() + 1, answer.end());
}

void TcpStore::erase(const std::string& key) { ask(Request::erase, key, {}); }

std::unique_ptr<Store> TcpStore::another() {
  return std::unique_ptr<Store>(new TcpStore(nullptr, host_, port_, job_, rank_, answer_seconds));
}

void TcpStore::close(bool /*failed*/) {
  if (server_ != nullptr) server_->wait_for_farewells(farewell_seconds);
}

std::string TcpStore::place() const { return "tcp:" + host_ + ":" + std::to_string(port_); }

}  // namespace trigram::gpu
