// Goes over what lanes access, as few stretches of memory.
#pragma once

#include <cstdint>

#include "ptx/execution/lanes.hpp"
#include "ptx/observer.hpp"

namespace trigram::ptx {

/// Calls body(lane, address, bytes) for each stretch of lanes whose bytes follow one another; `lane` is the first.
template <class Body>
void over_runs(const WarpAccess& access, Body body) {
  std::uint32_t first = 0;
  std::uint64_t begin = 0, end = 0;
  over(access.lanes, [&](std::uint32_t lane) {
    const std::uint64_t address = access.addresses[lane];
    if (address != end || begin == end) {
      if (begin != end) body(first, begin, end - begin);
      first = lane;
      begin = address;
    }
    end = address + access.bytes;
  });
  if (begin != end) body(first, begin, end - begin);
}

}  // namespace trigram::ptx
