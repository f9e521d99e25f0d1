#include "experiments/settings/launcher.hpp"

#include <cstdlib>

#include "core/values/error.hpp"
#include "processes/launcher_variables.hpp"

namespace trigram {

Launch launch() {
  for (const LauncherVariables& variables : launcher_variables) {
    const int processes = environment_number(variables.ranks, 1);
    if (environment_value(variables.own).value_or("").empty() || processes < 2) continue;
    return {variables.launcher, variables.ranks + ("=" + std::to_string(processes)), processes,
            environment_number(variables.rank, 0)};
  }
  return {};
}

void require_started_alone(const std::string& command, const std::string& instead) {
  const Launch launched = launch();
  require(launched.processes == 1, command, ": ", launched.launcher, " started ", launched.processes, " processes (",
          launched.sign, "), and each would do all of it; start it once, without ", launched.launcher,
          instead.empty() ? "" : ", or ", instead);
}

void count_as_started_alone() {
  for (const LauncherVariables& variables : launcher_variables) ::unsetenv(variables.own);
}

}  // namespace trigram
