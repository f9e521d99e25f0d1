// Pauses between two looks at messages that are under way.
#pragma once

#include <chrono>

namespace trigram {

/// Has this process and the threads that it starts from now on nap for microseconds: the kernel rounds naps up by 50 us
/// unless told otherwise.
void nap_precisely();

/// None at first, while what is under way arrives; then others need the processor more, on machines with fewer cores
/// than lanes.
void nap(std::chrono::duration<double> waited);

}  // namespace trigram
