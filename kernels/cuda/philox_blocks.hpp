// Several blocks of a Philox stream side by side.
#pragma once

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/philox.hpp"

namespace trigram::cuda {

/// words[b] = what philox_block gives for indices[b]. In each round all blocks use the same two keys.
template <int blocks>
__device__ __forceinline__ void philox_blocks(const PhiloxStream& stream, const std::uint64_t (&indices)[blocks],
                                              std::uint32_t (&words)[blocks][4]) {
#pragma unroll
  for (int b = 0; b < blocks; ++b) {
    words[b][0] = static_cast<std::uint32_t>(indices[b]);
    words[b][1] = static_cast<std::uint32_t>(indices[b] >> 32U);
    words[b][2] = static_cast<std::uint32_t>(stream.upper);
    words[b][3] = static_cast<std::uint32_t>(stream.upper >> 32U);
  }
#pragma unroll
  for (std::uint32_t round = 0; round < 10; ++round) {
    const std::uint32_t key0 = stream.key0 + round * 0x9E3779B9U;
    const std::uint32_t key1 = stream.key1 + round * 0xBB67AE85U;
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      const std::uint64_t product0 = static_cast<std::uint64_t>(words[b][0]) * 0xD2511F53U;
      const std::uint64_t product2 = static_cast<std::uint64_t>(words[b][2]) * 0xCD9E8D57U;
      words[b][0] = static_cast<std::uint32_t>(product2 >> 32U) ^ words[b][1] ^ key0;
      words[b][1] = static_cast<std::uint32_t>(product2);
      words[b][2] = static_cast<std::uint32_t>(product0 >> 32U) ^ words[b][3] ^ key1;
      words[b][3] = static_cast<std::uint32_t>(product0);
    }
  }
}

}  // namespace trigram::cuda
