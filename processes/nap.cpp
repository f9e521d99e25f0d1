#include "processes/nap.hpp"

#include <sys/prctl.h>

#include <thread>

namespace trigram {

void nap_precisely() { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

// Yielding instead would forfeit our turn, on recent kernels for milliseconds at a time.
void nap(std::chrono::duration<double> waited) {
  using namespace std::chrono_literals;
  if (waited > 20us) std::this_thread::sleep_for(waited > 2ms ? 50us : 20us);
}

}  // namespace trigram
