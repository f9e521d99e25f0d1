// How many ranks a test has.
#pragma once

#include "backends/gpu/host/member.hpp"

namespace trigram::testing {

/// Those of the job that this process belongs to; two where it was started alone.
inline int job_size() {
  const auto member = gpu::member_of(gpu::launcher_environment());
  return member ? member->ranks : 2;
}

}  // namespace trigram::testing
