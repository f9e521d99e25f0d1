#include "backends/torch/place.hpp"

namespace trigram::torch {

Place join(const Network& network, double seconds) {
  const nlohmann::json told = network.ask({{"ask", "join"}, {"seconds", seconds}});
  return {{told.at("rank"), told.at("nodes")},
          told.at("host"),
          told.at("listens"),
          told.at("facts").dump(),
          told.at("cause_may_take"),
          told.at("meeting_may_take"),
          told.value("absence_may_take", 0.0)};
}

}  // namespace trigram::torch
