// RankReports as bytes, since ranks may be other processes.
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/trainer.hpp"

namespace trigram {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Cost, rounds, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepRow, step, rank, time_s, loss, bytes_sent, compute_s, encode_s, wire_s, decode_s,
                                   exposed_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EvalRow, step, time_s, loss, accuracy, worst_accuracy, consensus_distance)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaneSpan, lane, activity, name, begin, end, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankReport, rank, steps, evals, spans, cost_by_step, setup_and_finish, local_batch,
                                   training_seconds, weights)

std::vector<std::byte> pack(const RankReport& report) {
  const std::vector<std::uint8_t> cbor = nlohmann::json::to_cbor(nlohmann::json(report));
  const auto bytes = std::as_bytes(std::span(cbor));
  return {bytes.begin(), bytes.end()};
}

RankReport unpack(const std::vector<std::byte>& bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  try {
    return nlohmann::json::from_cbor(first, first + bytes.size()).get<RankReport>();
  } catch (const nlohmann::json::exception& error) {
    throw Error("a rank's report of " + std::to_string(bytes.size()) + " bytes cannot be read: " + error.what());
  }
}

}  // namespace trigram
