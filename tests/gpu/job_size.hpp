// The job that a test is one rank of.
#pragma once

#include "core/training/backend.hpp"
#include "meeting/member.hpp"

namespace trigram::testing {

/// Those of the job that this process belongs to; two where it was started alone.
inline int job_size() {
  const auto member = member_of(launcher_environment());
  return member ? member->ranks : 2;
}

constexpr const char* on_gpus = "gpu:ranks_per_node=2,timeout=60s";

/// All of its ranks, with two lanes for buckets.
inline World world_of_all() {
  World world;
  world.ranks = job_size();
  world.bucket_lanes = 2;
  return world;
}

}  // namespace trigram::testing
