#include "experiments/study/study_run.hpp"

#include "core/error.hpp"
#include "core/located.hpp"
#include "experiments/record/digest.hpp"
#include "experiments/settings/system.hpp"

namespace trigram {
namespace {

const std::string& program_digest() {
  static const std::string digest = file_digest("/proc/self/exe");
  return digest;
}

RunConfig config_of(const StudyPoint& point) {
  return located(point.place, [&] {
    return RunConfig("the run", resolved(with_system(point.settings, run_flags()), run_defaults()));
  });
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

}  // namespace trigram
