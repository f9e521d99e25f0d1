// Who this process is among those that a launcher started.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace trigram {

/// One process of a job, as its launcher describes it.
struct Member {
  int rank = 0;
  int ranks = 1;
  int local_rank = -1;      ///< among the processes of this host; -1: the launcher does not say
  std::string launcher;     ///< "torchrun", "mpirun", "srun", or "none" for processes that we forked
  std::string job = "job";  ///< the same in all processes of one start of one job, different in every other
  std::string rendezvous;   ///< where they meet when nobody says: "tcp:HOST:PORT" or "mpi"; empty: unknown
  std::string secret;       ///< the user's, the same in all processes; empty: that of `secret_file`
  std::string secret_file;  ///< where this user's secret is kept; empty: nowhere
};

/// Environment variables by name.
using Environment = std::map<std::string, std::string>;

/// Those of this process that launchers set, and the user for them.
Environment launcher_environment();

/// Reads torchrun's variables (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT), Open MPI's, PMI's and Slurm's;
/// nothing where this process was started alone. The port is TRIGRAM_PORT, or the one after MASTER_PORT, on which
/// torchrun itself listens; it is part of the job's name, since torchrun's own is often "none". TRIGRAM_SECRET is the
/// job's secret; without it, one is kept in XDG_STATE_HOME or HOME. Throws UsageError for numbers that are none or do
/// not fit, naming the variable.
std::optional<Member> member_of(const Environment& environment);

}  // namespace trigram
