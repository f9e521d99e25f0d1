#include "backends/gpu/host/member.hpp"

#include <array>
#include <charconv>
#include <cstdlib>

#include "core/error.hpp"
#include "core/quoted.hpp"

namespace trigram::gpu {
namespace {

/// The variables in which a launcher says who a process is.
struct Dialect {
  const char* launcher;
  const char* rank;
  const char* ranks;
  const char* local_rank;
  std::array<const char*, 3> job;
};

constexpr std::array dialects{
    Dialect{"torchrun",
            "RANK",
            "WORLD_SIZE",
            "LOCAL_RANK",
            {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_PORT"}},
    Dialect{"mpirun",
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            {"PMIX_NAMESPACE", "OMPI_MCA_orte_jobid"}},
    Dialect{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    Dialect{"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", {"PMI_ID", "PMI_JOBID"}}};

constexpr std::array other_variables{"MASTER_ADDR",    "MASTER_PORT",    "TRIGRAM_PORT", "TRIGRAM_JOB",
                                     "TRIGRAM_SECRET", "XDG_STATE_HOME", "HOME"};

std::string value_of(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

int number(const Environment& environment, const std::string& name, int low, int high) {
  const std::string text = value_of(environment, name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value >= low && value <= high,
          "the environment says " + name + "=" + shown(text) + ", which is no number from " + std::to_string(low) +
              " to " + std::to_string(high));
  return value;
}

std::string meeting_place(const Dialect& dialect, const Environment& environment) {
  constexpr int ports = 65535;
  if (environment.contains("MASTER_ADDR") &&
      (environment.contains("TRIGRAM_PORT") || environment.contains("MASTER_PORT"))) {
    const int port = environment.contains("TRIGRAM_PORT") ? number(environment, "TRIGRAM_PORT", 1, ports)
                                                          : number(environment, "MASTER_PORT", 1, ports - 1) + 1;
    if (dialect.launcher == std::string("torchrun")) {
      return "tcp:" + value_of(environment, "MASTER_ADDR") + ":" + std::to_string(port);
    }
  }
  return dialect.launcher == std::string("torchrun") ? "" : "mpi";
}

std::string job_of(const Dialect& dialect, const Environment& environment) {
  std::string job = value_of(environment, "TRIGRAM_JOB");
  for (const char* part : dialect.job) {
    const std::string value = part == nullptr ? "" : value_of(environment, part);
    if (!value.empty()) job += (job.empty() ? "" : "-") + value;
  }
  return job.empty() ? "job" : job;
}

std::string secret_file_in(const Environment& environment) {
  const std::string state = value_of(environment, "XDG_STATE_HOME");
  const std::string home = value_of(environment, "HOME");
  const std::string folder = !state.empty() || home.empty() ? state : home + "/.local/state";
  return folder.empty() ? "" : folder + "/trigram/secret";
}

Member member_in(const Dialect& dialect, const Environment& environment) {
  constexpr int most = 1 << 20;
  Member member;
  member.launcher = dialect.launcher;
  member.ranks = number(environment, dialect.ranks, 1, most);
  member.rank = number(environment, dialect.rank, 0, member.ranks - 1);
  if (environment.contains(dialect.local_rank)) member.local_rank = number(environment, dialect.local_rank, 0, most);
  member.job = job_of(dialect, environment);
  member.rendezvous = meeting_place(dialect, environment);
  member.secret = value_of(environment, "TRIGRAM_SECRET");
  member.secret_file = secret_file_in(environment);
  return member;
}

}  // namespace

Environment launcher_environment() {
  Environment environment;
  const auto read = [&](const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read before there are threads
    if (value != nullptr) environment[name] = value;
  };
  for (const Dialect& dialect : dialects) {
    for (const char* name : {dialect.rank, dialect.ranks, dialect.local_rank}) read(name);
    for (const char* name : dialect.job) {
      if (name != nullptr) read(name);
    }
  }
  for (const char* name : other_variables) read(name);
  return environment;
}

std::optional<Member> member_of(const Environment& environment) {
  for (const Dialect& dialect : dialects) {
    if (environment.contains(dialect.rank) && environment.contains(dialect.ranks))
      return member_in(dialect, environment);
  }
  return std::nullopt;
}

}  // namespace trigram::gpu
