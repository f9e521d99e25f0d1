#include "backends/gpu/host/job_membership.hpp"

#include <unistd.h>

#include <cstdlib>

#include "core/values/error.hpp"

namespace trigram::gpu {
namespace {

// The process that joined: a forked child is no member of the job.
pid_t member_process = 0;

std::string chosen(const Member& member, const std::string& place) {
  const std::string& where = place.empty() ? member.rendezvous : place;
  require(!where.empty(), "rank " + std::to_string(member.rank) + " of " + std::to_string(member.ranks) +
                              " does not know where to meet the others; set MASTER_ADDR and MASTER_PORT as torchrun "
                              "does, or give --rendezvous file:PATH, a folder that all ranks see");
  return where;
}

}  // namespace

JobMembership& JobMembership::join(const Member& member, const std::string& place, Patience patience) {
  static auto* session =
      new JobMembership(member, place, patience);  // ends in `leave`, which comes after static objects
  return *session;
}

JobMembership::JobMembership(const Member& member, const std::string& place, Patience patience)
    : member_(member), ranks_(introduced(meet(chosen(member, place), member, patience), patience)) {
  member_process = getpid();
  on_exit(leave, this);
}

void JobMembership::leave(int status, void* session) {
  if (getpid() != member_process) return;
  auto& self = *static_cast<JobMembership*>(session);
  const int rank = self.member_.rank;
  if (status != 0) {
    self.rendezvous().publish({rank, "its process ends with exit code " + std::to_string(status)});
  }
  self.rendezvous().leave();
}

}  // namespace trigram::gpu
