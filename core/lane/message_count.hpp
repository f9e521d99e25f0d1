// How many messages simulations have timed, for who watches a long one.
#pragma once

#include <atomic>
#include <cstdint>

namespace trigram {

/// Those of this process, all ranks together; one thread counts, any may read.
inline std::atomic<std::int64_t>& message_count() {
  static std::atomic<std::int64_t> count{0};
  return count;
}

}  // namespace trigram
