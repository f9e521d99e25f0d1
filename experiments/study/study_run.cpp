#include "experiments/study/study_run.hpp"

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "experiments/record/resume/digest.hpp"
#include "experiments/settings/files/shell_word.hpp"
#include "experiments/settings/system.hpp"

namespace trigram {
namespace {

Settings settings_of(const StudyPoint& point) {
  static const Settings defaults = run_defaults();
  return resolved(with_system(point.settings, run_flags()), defaults);
}

RunConfig config_of(const StudyPoint& point) {
  return located(point.place, [&] { return RunConfig("the run", settings_of(point)); });
}

}  // namespace

StudyRun::StudyRun(const std::filesystem::path& study, const StudyPoint& point)
    : config(config_of(point)),
      identity(digest(config.identity() + program_digest())),
      name((std::filesystem::path("runs") / (point.row + "-" + identity)).string()) {
  config.out = study / name;
  config.progress = false;
  require(config.checkpoint.empty() && config.resume.empty(),
          "a run of a study leaves no checkpoints, and goes on from ",
          "none: a study that is started again makes the runs that are missing; leave out what [run] says of them");
}

RunTask task_of(StudyRun run, const StudyPoint& point) {
  std::string like = point.row;
  for (const auto& [key, value] : point.axes) {
    if (key != "seed") like += ", " + key + " = " + value;
  }
  const std::string name = std::filesystem::path(run.name).filename().string();
  return {std::move(run.config), run.identity, name, point.settings, point.place, point.row, std::move(like)};
}

std::string command_of(const StudyPoint& point) {
  std::string command = "trigram run";
  for (const auto& [flag, value] : settings_of(point)) command += " --" + flag + " " + shell_word(value);
  return command;
}

}  // namespace trigram
