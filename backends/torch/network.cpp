#include "backends/torch/network.hpp"

#include <array>
#include <vector>

#include "core/values/error.hpp"

namespace trigram::torch {
namespace {

constexpr int refused = 2;
constexpr std::size_t room_for_answers = std::size_t{1} << 20;
constexpr std::size_t room_for_error = 4096;

thread_local Network in_use;

}  // namespace

nlohmann::json Network::ask(const nlohmann::json& question) const {
  std::vector<char> text(room_for_answers);
  const int status = ask_in_c(question.dump().c_str(), text.data(), static_cast<int>(text.size()));
  if (status == refused) throw UsageError(text.data());
  if (status != 0) throw BackendError(text.data());
  return nlohmann::json::parse(text.data());
}

TransferError Network::carry(int connections, int lane, std::span<const Message> messages, double seconds) const {
  std::array<char, room_for_error> text{};
  const int place = carry_in_c(connections, lane, messages.data(), static_cast<int>(messages.size()), seconds,
                               text.data(), static_cast<int>(text.size()));
  return {place, text.data()};
}

std::vector<std::size_t> Network::carry_each(int connections, int lane, std::span<const Message> messages,
                                             double seconds) const {
  std::vector<std::int64_t> failed(messages.size(), 1);
  carry_each_in_c(connections, lane, messages.data(), static_cast<int>(messages.size()), seconds, failed.data());
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < failed.size(); ++i) {
    if (failed[i] != 0) places.push_back(i);
  }
  return places;
}

void use_network(const Network& network) { in_use = network; }

const Network& network_in_use() {
  require(in_use.carry_in_c != nullptr,
          "backend 'torch' sends by torch.distributed, which only a Python that trains has: call trigram.with_trigram "
          "in a script that torchrun starts, or take backend mpi");
  return in_use;
}

}  // namespace trigram::torch
