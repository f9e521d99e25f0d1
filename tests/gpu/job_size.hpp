// How many ranks a test has.
#pragma once

#include "meeting/member.hpp"

namespace trigram::testing {

/// Those of the job that this process belongs to; two where it was started alone.
inline int job_size() {
  const auto member = member_of(launcher_environment());
  return member ? member->ranks : 2;
}

}  // namespace trigram::testing
