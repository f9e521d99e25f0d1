// Parts what a subcommand is given into its own and what is the run's.
#include "experiments/program/flags/flags_of_run.hpp"

#include "experiments/settings/run_config.hpp"

namespace trigram {

std::vector<Params::Declared> beside_flags_of_run(std::vector<Params::Declared> own,
                                                  const std::set<std::string>& decided) {
  for (const Params::Declared& flag : run_flags()) {
    if (!decided.contains(flag.key)) own.push_back(flag);
  }
  return own;
}

OwnAndRun parted(const Settings& given, const std::vector<Params::Declared>& own) {
  OwnAndRun parts{{}, given};
  for (const Params::Declared& flag : own) {
    if (auto found = parts.run.extract(flag.key)) parts.own.insert(std::move(found));
  }
  return parts;
}

}  // namespace trigram
