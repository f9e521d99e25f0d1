// This process as a member of a job that a launcher started, from the first use until it ends.
#pragma once

#include "backends/gpu/host/met_ranks.hpp"

namespace trigram::gpu {

/// There is one a process. It ends with the process: a good exit says goodbye to the other ranks, another one tells
/// them that the job is over.
class JobMembership {
 public:
  /// Meets the other ranks at the first call, where `place` says or, if it is empty, where the launcher says; later
  /// calls give the same. Throws UsageError where nobody says.
  static JobMembership& join(const Member& member, const std::string& place, Patience patience);

  JobMembership(const JobMembership&) = delete;
  JobMembership& operator=(const JobMembership&) = delete;

  const Member& member() const { return member_; }
  Rendezvous& rendezvous() { return *ranks_.rendezvous; }
  const std::vector<RankLocation>& locations() const { return ranks_.locations; }

 private:
  JobMembership(const Member& member, const std::string& place, Patience patience);
  static void leave(int status, void* session);

  Member member_;
  MetRanks ranks_;
};

}  // namespace trigram::gpu
