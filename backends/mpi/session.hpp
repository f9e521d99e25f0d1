// This process as a member of an MPI job, from the first use until it ends.
#pragma once

#include <string>
#include <vector>

namespace trigram::mpi {

/// MPI allows one initialization a process, so there is one session. It ends with the process: finalized when the exit
/// status is 0, unless somebody else had started MPI in this process, who ends it; else the whole job is aborted with
/// that status. An error of one rank thus ends the job once the program
/// has printed it, and whatever the others are waiting for.
class Session {
 public:
  /// Joins the job at the first call; all processes of the job must call, and the first call's `timeout` says how many
  /// seconds the others may take to come, 0: forever. Throws UsageError where MPI lacks threads or its library does not
  /// belong to the launcher, and Error where the program was linked to something else.
  static Session& join(double timeout = 0);

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// A rank that entered is gone, and did not leave: the job is aborted when this process ends, whatever its status.
  static void mark_lost();

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// By shared memory, numbered without gaps in the order of each node's first rank.
  const std::vector<int>& node_of_rank() const { return node_of_rank_; }
  /// "mpirun", "srun", or "none".
  const std::string& launcher() const { return launcher_; }
  /// The vendor's name and version.
  const std::string& library() const { return library_; }

 private:
  explicit Session(double timeout);

  int rank_ = 0;
  int ranks_ = 1;
  std::vector<int> node_of_rank_;
  std::string launcher_;
  std::string library_;
};

}  // namespace trigram::mpi
