// Two compilations of one loop: for every x86-64, and for processors with AVX2. Without fused multiply-add both give
// the same bits.
#pragma once

#include <cstdint>

namespace trigram {

/// The instructions that loops were compiled for.
enum class Instructions : std::uint8_t { portable, avx2 };

/// The widest that this processor runs.
inline Instructions best_instructions() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return Instructions::avx2;
#endif
  return Instructions::portable;
}

#if defined(__x86_64__)
template <class Body>
[[gnu::target("avx2")]] inline void run_avx2(Body body) {
  body();
}
#endif

/// Runs `body`, a lambda marked always_inline, as compiled for `instructions`. It is passed by value, so that no store
/// can change what it holds and its loops become vectors.
template <class Body>
void vectorised(Instructions instructions, Body body) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx2) {
    run_avx2(body);
    return;
  }
#endif
  body();
}

}  // namespace trigram

/// Marks a lambda that `vectorised` compiles twice.
#define TRIGRAM_INLINE __attribute__((always_inline))
