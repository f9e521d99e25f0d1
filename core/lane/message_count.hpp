// How many messages simulations have timed, for who watches a long one.
#pragma once

#include <atomic>
#include <cstdint>

namespace trigram {

/// Messages timed in this process, over all ranks. One thread writes, any thread may read.
inline std::atomic<std::int64_t>& message_count() {
  static std::atomic<std::int64_t> count{0};
  return count;
}

}  // namespace trigram
