#include "experiments/record/resume/going_on.hpp"

#include <optional>
#include <string>

#include "core/step/schedule.hpp"
#include "core/values/error.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

/// Of a flag as it was written, "1k" as well as "1000", which has been read before.
std::int64_t steps_of(const std::string& flag) {
  const std::optional<std::int64_t> steps = whole_number(flag);
  ensure(steps.has_value(), "--steps was read before as a number: " + flag);
  return *steps;
}

}  // namespace

void allow_other_steps(Configuration& then, Configuration& now, std::int64_t done) {
  const auto before = then.find("steps"), after = now.find("steps");
  if (before == then.end() || after == now.end() || before->second == after->second) return;
  const std::int64_t of_before = steps_of(before->second), of_now = steps_of(after->second);
  require(of_now > done, "the checkpoint is of ", done, " steps, and this run has ", of_now,
          ", which are done; give --steps more of them");
  const std::string spec = then["schedule"];
  if (spec == now["schedule"]) {
    const auto schedule = Schedules::make(spec);
    for (std::int64_t step = 0; step < done; ++step) {
      require(schedule->factor(step, of_before) == schedule->factor(step, of_now), "schedule ", spec,
              " looks at the end: of ", of_now, " steps, step ", step, " has another learning rate than of ", of_before,
              ", by which it was trained; go on with --steps ", of_before,
              ", or begin with a schedule that does not, as constant or step");
    }
  }
  then.erase(before);
  now.erase(after);
}

}  // namespace trigram
