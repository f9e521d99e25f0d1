// The variables in which launchers tell a process who it is; every reader of them looks here.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace trigram {

/// What one launcher sets.
struct LauncherVariables {
  const char* launcher;            ///< "mpirun"
  const char* own;                 ///< one that nobody else sets
  const char* ranks;               ///< processes that were started together
  const char* rank;                ///< which of them this is
  const char* local_rank;          ///< which of those on this machine
  std::array<const char*, 3> job;  ///< what tells one start of a job from another; null where there are fewer
  bool starts_mpi = true;
};

/// The innermost launcher first: torchrun is itself started by the others.
inline constexpr std::array launcher_variables{
    LauncherVariables{"torchrun",
                      "TORCHELASTIC_RUN_ID",
                      "WORLD_SIZE",
                      "RANK",
                      "LOCAL_RANK",
                      {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_PORT"},
                      /*starts_mpi=*/false},
    LauncherVariables{"mpirun",
                      "OMPI_COMM_WORLD_SIZE",
                      "OMPI_COMM_WORLD_SIZE",
                      "OMPI_COMM_WORLD_RANK",
                      "OMPI_COMM_WORLD_LOCAL_RANK",
                      {"PMIX_NAMESPACE", "OMPI_MCA_orte_jobid"}},
    LauncherVariables{"srun",
                      "SLURM_STEP_NUM_TASKS",
                      "SLURM_STEP_NUM_TASKS",
                      "SLURM_PROCID",
                      "SLURM_LOCALID",
                      {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    LauncherVariables{"mpirun", "PMI_SIZE", "PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID", {"PMI_ID", "PMI_JOBID"}}};

/// The value of an environment variable, where it is set; its whole number, or `otherwise` where it is not.
std::optional<std::string> environment_value(const char* variable);
int environment_number(const char* variable, int otherwise);

}  // namespace trigram
