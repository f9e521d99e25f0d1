// Reads the curve of run.json.
#include "experiments/study/goal.hpp"

namespace trigram {

std::optional<Reached> reached(const Goal& goal, const nlohmann::json& run) {
  for (const nlohmann::json& point : run.at("curve")) {
    if (point["loss"].is_number() && point["loss"] <= goal.loss) return Reached{point["time_s"], point["bytes_mean"]};
  }
  return std::nullopt;
}

}  // namespace trigram
