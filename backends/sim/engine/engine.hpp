// SimGrid's engine with the settings of all simulations.
#pragma once

#include <cstdint>

namespace trigram::sim {

/// Of each actor: addresses, of which only what is touched is memory.
inline constexpr std::int64_t stack_bytes = 1 << 20;

/// Makes the engine of this process an exact alpha-beta network with max-min sharing, for so many actors. At most once
/// a process.
void start_engine(std::int64_t actors);

}  // namespace trigram::sim
