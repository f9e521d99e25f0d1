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

void require_no_flags_of_slurm(const std::string& subcommand, bool dry_run, const std::vector<std::string>& slurm) {
  require(
      slurm.empty(), subcommand, ": ", [&] { return shown("--slurm-" + slurm.front().substr(2)); },
      " is for sbatch; give --executor slurm, or leave it out");
  require(!dry_run, subcommand, ": --dry-run shows the job of --executor slurm; leave it out");
}

std::vector<std::string> words_but(const Settings& given, const std::set<std::string>& own) {
  std::vector<std::string> words;
  for (const auto& [flag, value] : given) {
    if (!own.contains(flag)) words.push_back("--" + flag + "=" + value);
  }
  return words;
}

int execute(const HandedOver& work, const std::vector<std::string>& slurm) {
  const std::string name = work.executor.substr(0, work.executor.find(':'));
  const std::string owner = "trigram " + work.subcommand;
  const std::filesystem::path folder = shipped_folder("executors");
  std::error_code none;  // as of a name that is too long for a file
  require(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos &&
              std::filesystem::exists(folder / ("on_" + name + ".py"), none),
          owner, ": --executor ", shown(work.executor),
          " is none; there are dask, dask:FILE, dask:tcp://HOST:PORT and slurm");
  if (name != "slurm") require_no_flags_of_slurm(owner, work.dry_run, slurm);
  const nlohmann::json plan = {{"program", std::filesystem::read_symlink("/proc/self/exe").string()},
                               {"subcommand", work.subcommand},
                               {"subject", work.subject},
                               {"title", work.title},
                               {"words", work.words},
                               {"folder_flag", work.folder_flag},
                               {"folder", work.folder.string()},
                               {"executor", work.executor},
                               {"jobs", work.jobs},
                               {"task_seconds", work.task_seconds},
                               {"slurm", slurm},
                               {"dry_run", work.dry_run}};
  return run_script(folder / "execute.py", plan.dump());
}

int execute(const StudyFlags& flags, const Settings& given, const std::vector<std::string>& slurm) {
  static const std::set<std::string> own{"STUDY",   "out",      "jobs",         "plan",   "cells",
                                         "collect", "executor", "task-seconds", "dry-run"};
  return execute({"study", flags.file.string(), flags.file.stem().string(), words_but(given, own), "out", flags.out,
                  flags.executor, flags.jobs, flags.task_seconds, flags.dry_run},
                 slurm);
}

}  // namespace trigram
