// Who this process is among those that a launcher started; the only file of this backend that reads its variables.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace trigram::gpu {

/// One process of a job, as its launcher describes it.
struct Member {
  int rank = 0;
  int ranks = 1;
  int local_rank = -1;      ///< among the processes of this host; -1: the launcher does not say
  std::string launcher;     ///< "torchrun", "mpirun", "srun", or "none" for processes that we forked
  std::string job = "job";  ///< the same in all processes of one start of one job, different in every other
  std::string rendezvous;   ///< where they meet when nobody says: "tcp:HOST:PORT" or "mpi"; empty: unknown
};

/// Environment variables by name.
using Environment = std::map<std::string, std::string>;

/// Those of this process that launchers set.
Environment launcher_environment();

/// Reads torchrun's variables (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT), Open MPI's, PMI's and Slurm's;
/// nothing where this process was started alone. The port is TRIGRAM_PORT, or the one after MASTER_PORT, on which
/// torchrun itself listens. Throws UsageError for numbers that are none or do not fit, naming the variable.
std::optional<Member> member_of(const Environment& environment);

}  // namespace trigram::gpu
