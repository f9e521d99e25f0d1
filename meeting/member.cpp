#include "meeting/member.hpp"

#include <array>
#include <charconv>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "processes/launcher_variables.hpp"

namespace trigram {
namespace {

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

std::string meeting_place(const LauncherVariables& variables, const Environment& environment) {
  constexpr int ports = 65535;
  if (environment.contains("MASTER_ADDR") &&
      (environment.contains("TRIGRAM_PORT") || environment.contains("MASTER_PORT"))) {
    const int port = environment.contains("TRIGRAM_PORT") ? number(environment, "TRIGRAM_PORT", 1, ports)
                                                          : number(environment, "MASTER_PORT", 1, ports - 1) + 1;
    if (variables.launcher == std::string("torchrun")) {
      return "tcp:" + value_of(environment, "MASTER_ADDR") + ":" + std::to_string(port);
    }
  }
  return variables.launcher == std::string("torchrun") ? "" : "mpi";
}

std::string job_of(const LauncherVariables& variables, const Environment& environment) {
  std::string job = value_of(environment, "TRIGRAM_JOB");
  for (const char* part : variables.job) {
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

Member member_in(const LauncherVariables& variables, const Environment& environment) {
  constexpr int most = 1 << 20;
  Member member;
  member.launcher = variables.launcher;
  member.ranks = number(environment, variables.ranks, 1, most);
  member.rank = number(environment, variables.rank, 0, member.ranks - 1);
  if (environment.contains(variables.local_rank))
    member.local_rank = number(environment, variables.local_rank, 0, most);
  member.job = job_of(variables, environment);
  member.rendezvous = meeting_place(variables, environment);
  member.secret = value_of(environment, "TRIGRAM_SECRET");
  member.secret_file = secret_file_in(environment);
  return member;
}

}  // namespace

Environment launcher_environment() {
  Environment environment;
  const auto read = [&](const char* name) {
    if (const auto value = environment_value(name)) environment[name] = *value;
  };
  for (const LauncherVariables& variables : launcher_variables) {
    for (const char* name : {variables.rank, variables.ranks, variables.local_rank}) read(name);
    for (const char* name : variables.job) {
      if (name != nullptr) read(name);
    }
  }
  for (const char* name : other_variables) read(name);
  return environment;
}

std::optional<Member> member_of(const Environment& environment) {
  for (const LauncherVariables& variables : launcher_variables) {
    if (environment.contains(variables.rank) && environment.contains(variables.ranks))
      return member_in(variables, environment);
  }
  return std::nullopt;
}

}  // namespace trigram
