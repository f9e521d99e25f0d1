#include "ptx/meter/kernel_counts.hpp"

#include <numeric>

namespace trigram::ptx {

void GlobalCounts::add(const GlobalCounts& other) {
  requests += other.requests;
  sectors += other.sectors;
  useful_bytes += other.useful_bytes;
  different += other.different;
}

std::uint64_t KernelCounts::all_instructions() const {
  return std::accumulate(instructions.begin(), instructions.end(), std::uint64_t{0});
}

void KernelCounts::add(const KernelCounts& other) {
  launches += other.launches;
  blocks += other.blocks;
  threads = other.threads;
  shared_bytes = other.shared_bytes;
  for (std::size_t i = 0; i < instructions.size(); ++i) instructions[i] += other.instructions[i];
  lanes_together += other.lanes_together;
  lanes_active += other.lanes_active;
  loads.add(other.loads);
  stores.add(other.stores);
  shared_requests += other.shared_requests;
  wavefronts_needed += other.wavefronts_needed;
  wavefronts += other.wavefronts;
}

}  // namespace trigram::ptx
