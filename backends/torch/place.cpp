#include "backends/torch/place.hpp"

namespace trigram::torch {

Place join(const Transport& transport, double seconds) {
  const nlohmann::json told = transport.ask({{"ask", "join"}, {"seconds", seconds}});
  return {told.at("rank"), told.at("nodes"), told.at("host"), told.at("listens"), told.at("facts").dump()};
}

}  // namespace trigram::torch
