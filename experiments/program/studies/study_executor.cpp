#include "experiments/program/studies/study_executor.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/program/scripts/script.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

constexpr const char* slurm_prefix = "--slurm-";

/// Words for `trigram study` that say what is to be made, without where and by whom.
std::vector<std::string> words_of_runs(const Settings& given) {
  static const std::set<std::string> own{"STUDY",   "out",      "jobs",         "plan",   "cells",
                                         "collect", "executor", "task-seconds", "dry-run"};
  std::vector<std::string> words;
  for (const auto& [flag, value] : given) {
    if (!own.contains(flag)) words.push_back("--" + flag + "=" + value);
  }
  return words;
}

}  // namespace

std::pair<Arguments, std::vector<std::string>> without_slurm_flags(const Arguments& arguments) {
  std::pair<Arguments, std::vector<std::string>> apart;
  for (const std::string& word : arguments) {
    if (!word.starts_with(slurm_prefix)) {
      apart.first.push_back(word);
      continue;
    }
    const std::string flag = word.substr(std::string(slurm_prefix).size());
    require(!flag.empty() && flag.front() != '=' && flag.find_first_of("\n\r") == std::string::npos,
            "trigram study: ", shown(word), " names no flag of sbatch; write it as --slurm-partition=NAME");
    apart.second.push_back("--" + flag);
  }
  return apart;
}

void require_no_flags_of_slurm(const StudyFlags& flags, const std::vector<std::string>& slurm) {
  require(
      slurm.empty(), "trigram study: ", [&] { return shown("--slurm-" + slurm.front().substr(2)); },
      " is for sbatch; give --executor slurm, or leave it out");
  require(!flags.dry_run, "trigram study: --dry-run shows the job of --executor slurm; leave it out");
}

int execute(const StudyFlags& flags, const Settings& given, const std::vector<std::string>& slurm) {
  const std::string name = flags.executor.substr(0, flags.executor.find(':'));
  const std::filesystem::path folder = shipped_folder("executors");
  std::error_code none;  // as of a name that is too long for a file
  require(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos &&
              std::filesystem::exists(folder / ("on_" + name + ".py"), none),
          "trigram study: --executor ", shown(flags.executor),
          " is none; there are dask, dask:FILE, dask:tcp://HOST:PORT and slurm");
  if (name != "slurm") require_no_flags_of_slurm(flags, slurm);
  const nlohmann::json plan = {{"program", std::filesystem::read_symlink("/proc/self/exe").string()},
                               {"study", flags.file.string()},
                               {"words", words_of_runs(given)},
                               {"out", flags.out.string()},
                               {"executor", flags.executor},
                               {"jobs", flags.jobs},
                               {"task_seconds", flags.task_seconds},
                               {"slurm", slurm},
                               {"dry_run", flags.dry_run}};
  return run_script(folder / "execute.py", plan.dump());
}

}  // namespace trigram
