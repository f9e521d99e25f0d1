#include "backends/torch/connections.hpp"

#include <exception>

namespace trigram::torch {

Connections::Connections(const Network& network, double seconds)
    : network_(network), number_(network.ask({{"ask", "open"}, {"seconds", seconds}})) {}

Connections::~Connections() {
  try {
    network_.ask({{"ask", "close"}, {"connections", number_}});
  } catch (const std::exception&) {
    return;  // torch.distributed itself has ended
  }
}

nlohmann::json Connections::tell(const nlohmann::json& said) const {
  return network_.ask({{"ask", "tell"}, {"connections", number_}, {"said", said}});
}

void Connections::connect(int lanes) const {
  network_.ask({{"ask", "connect"}, {"connections", number_}, {"lanes", lanes}});
}

TransferError Connections::carry(int lane, std::span<const Message> messages, double seconds) const {
  return network_.carry(number_, lane, messages, seconds);
}

std::vector<std::size_t> Connections::carry_each(int lane, std::span<const Message> messages, double seconds) const {
  return network_.carry_each(number_, lane, messages, seconds);
}

void Connections::end_all() const { network_.ask({{"ask", "end"}, {"connections", number_}}); }

}  // namespace trigram::torch
