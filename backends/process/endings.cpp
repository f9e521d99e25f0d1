#include "backends/process/endings.hpp"

namespace trigram {

std::string Endings::why_silent(int rank) {
  const std::int64_t begun = begun_;
  const std::optional<std::int64_t> ended = steps_at_end(rank);
  if (!ended || *ended >= begun) return {};
  return "which has called finish() after " + std::to_string(*ended) + " steps, and this rank has begun " +
         std::to_string(begun) + ": give all ranks as many batches, or let loops run within `with job.join():`";
}

}  // namespace trigram
