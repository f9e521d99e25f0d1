#include "experiments/workloads/python_peer/peer.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "core/step/workload.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

constexpr const char* variable = "TRIGRAM_PEER";

/// "5,6".
std::array<int, 2> descriptors() {
  const char* text = std::getenv(variable);
  require(
      text != nullptr,
      "python_model, python_algorithm and python_optimizer are computed by the Python that has them, which starts this "
      "program itself: call trigram.simulate there");
  std::array<int, 2> numbers{};
  const char* const end = text + std::strlen(text);
  const auto first = std::from_chars(text, end, numbers[0]);
  const bool separated = first.ec == std::errc() && first.ptr != end && *first.ptr == ',';
  const auto second = separated ? std::from_chars(first.ptr + 1, end, numbers[1]) : first;
  require(separated && second.ec == std::errc() && second.ptr == end, variable, "=", text,
          " is no socket and memory, as 5,6; leave it to trigram.simulate");
  return numbers;
}

bool is_socket(int descriptor) {
  struct stat file {};
  return ::fstat(descriptor, &file) == 0 && S_ISSOCK(file.st_mode);
}

[[noreturn]] void gone() { throw BackendError("the Python that computes gradients is gone"); }

}  // namespace

Peer& Peer::of_this_process() {
  static Peer peer;
  return peer;
}

Peer::Peer() {
  const auto [socket, memory] = descriptors();
  require(is_socket(socket), variable, " names ", socket,
          " as a socket, which it is not; leave it to trigram.simulate");
  socket_ = socket;
  const nlohmann::json about = ask({{"ask", "describe"}});
  for (const nlohmann::json& one : about.at("parameters")) {
    begins_.push_back(count_);
    Parameter parameter = whole_parameter(one.at("name"), one.at("dimensions").get<Dimensions>(),
                                          static_cast<int>(begins_.size()) - 1, one.at("decays"));
    count_ += static_cast<std::size_t>(parameter.count);
    model_.parameters.push_back(std::move(parameter));
  }
  model_.local_batch = about.at("local_batch");
  model_.accumulate = about.at("accumulate");
  model_.description = about.at("description");
  model_.has_algorithm = about.at("has_algorithm");
  model_.keeps_state = about.at("keeps_state");
  map_memory(memory);
}

void Peer::map_memory(int descriptor) {
  const std::size_t bytes = (model_.has_algorithm ? 4 : 2) * count_ * sizeof(float);
  struct stat file {};
  require(::fstat(descriptor, &file) == 0 && static_cast<std::size_t>(file.st_size) >= bytes, variable, " names ",
          descriptor, " as memory, which has no ", bytes, " bytes; leave it to trigram.simulate");
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED)
    throw BackendError(std::string("cannot map the memory of the Python that computes gradients: ") +
                       std::strerror(errno));
  memory_ = static_cast<float*>(at);
}

nlohmann::json Peer::ask(const nlohmann::json& question) {
  send(question.dump() + "\n");
  return nlohmann::json::parse(receive_line());
}

void Peer::send(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) gone();
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

nlohmann::json Peer::ask(nlohmann::json question, std::string& bytes) {
  question["bytes"] = bytes.size();
  send(question.dump() + "\n");
  send(bytes);
  nlohmann::json answer = nlohmann::json::parse(receive_line());
  bytes = receive_bytes(answer.value("bytes", std::size_t{0}));
  return answer;
}

void Peer::require_algorithm() const {
  require(model_.has_algorithm,
          "an algorithm of Python is run by the Python that has it: call trigram.simulate there, with its class");
}

std::string Peer::receive_line() {
  std::size_t end = received_.find('\n');
  for (; end == std::string::npos; end = received_.find('\n')) receive_more();
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

std::string Peer::receive_bytes(std::size_t count) {
  while (received_.size() < count) receive_more();
  std::string bytes = received_.substr(0, count);
  received_.erase(0, count);
  return bytes;
}

void Peer::receive_more() {
  std::array<char, 1024> piece{};
  ssize_t got = -1;
  do got = ::recv(socket_, piece.data(), piece.size(), 0);
  while (got < 0 && errno == EINTR);
  if (got <= 0) gone();
  received_.append(piece.data(), static_cast<std::size_t>(got));
}

}  // namespace trigram
