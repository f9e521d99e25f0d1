#include "backends/torch/connections.hpp"

#include <exception>

namespace trigram::torch {

Connections::Connections(const Transport& transport, double seconds)
    : transport_(transport), number_(transport.ask({{"ask", "open"}, {"seconds", seconds}})) {}

Connections::~Connections() {
  try {
    transport_.ask({{"ask", "close"}, {"connections", number_}});
  } catch (const std::exception&) {
    return;  // torch.distributed itself has ended
  }
}

nlohmann::json Connections::tell(const nlohmann::json& said) const {
  return transport_.ask({{"ask", "tell"}, {"connections", number_}, {"said", said}});
}

void Connections::connect(int lanes) const {
  transport_.ask({{"ask", "connect"}, {"connections", number_}, {"lanes", lanes}});
}

Trouble Connections::carry(int lane, std::span<const Message> messages, double seconds) const {
  return transport_.carry(number_, lane, messages, seconds);
}

void Connections::end_all() const { transport_.ask({{"ask", "end"}, {"connections", number_}}); }

}  // namespace trigram::torch
