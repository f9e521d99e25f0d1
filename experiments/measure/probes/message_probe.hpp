// Measures single messages between ranks, so that closed forms need to know nothing of the backend.
#pragma once

#include <optional>
#include <vector>

#include "core/lane/worker.hpp"
#include "experiments/measure/bench_op.hpp"

namespace trigram {

/// Round trips of rank 0 with others and of every rank with its successor, as this rank measured them.
std::vector<MessageTime> probe_messages(RankRuntime& runtime);

/// The one message time of a homogeneous group; nullopt where two differ by more than a millionth.
std::optional<MessageTime> common(const std::vector<MessageTime>& probes);

}  // namespace trigram
