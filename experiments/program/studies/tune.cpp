// trigram tune: a search for the flags of a run that make it fastest.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <set>

#include "core/values/decimal.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/flags/flags_of_run.hpp"
#include "experiments/program/flags/subcommand.hpp"
#include "experiments/program/flags/uncertainty.hpp"
#include "experiments/program/scripts/plotting.hpp"
#include "experiments/program/scripts/script.hpp"
#include "experiments/program/studies/search_space.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/record/resume/folder_lock.hpp"
#include "experiments/settings/build_facts.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/system.hpp"

namespace trigram {
namespace {

constexpr int no_optuna = 3;

/// The flags of the search itself.
struct TuneFlags {
  explicit TuneFlags(Params& flags)
      : goal(flags.get("for", "iteration_s",
                       "what is to be short: iteration_s, the mean time of an iteration, or time_to_loss=0.3, the "
                       "time until an evaluation has that loss or less")),
        space(flags.get("space", "",
                        "what may be chosen: a file of FLAG = VALUE VALUE and FLAG = LOW..HIGH lines; empty: the one "
                        "that is shipped for what is to be short")),
        trials(flags.get("trials", 60, "configurations to try, the given one among them", {1, 100'000})),
        batch(flags.get("batch", 4, "trials that are chosen at once, knowing all before them", {1, 1024})),
        jobs(flags.get("jobs", 0, "runs at a time; 0: one a core in the simulator, else one at all", {0, 1024})),
        confirm(flags.get("confirm", 3, "runs of the given and of the best, with seeds that the search has not seen",
                          {0, 1000})),
        together(
            flags.get("together", false,
                      "search with everybody who is given the same command, on machines that share the folder: each "
                      "trial is chosen knowing all that have ended anywhere, in journal.log of Optuna's journal "
                      "storage; the same seed searches otherwise each time")),
        launcher(
            flags.get("launcher", "",
                      "what stands before each run's command, as 'mpirun -n 4 --oversubscribe' for --backend mpi")),
        plots(flags.get("plot", true, "draw the search at the end")),
        out(flags.get("out", "results/tuned", "folder of best.cfg and of all that was tried")),
        uncertainty(flags, std::min(32, (trials + 2 * confirm) / 2),
                    "draws of the given and of the best from the ranges that files of clusters and systems state (25us "
                    "in 15us..60us), to say how probable the gain is; by itself of profiles alone, and no more than "
                    "the search has runs; 0: none") {}

  std::string goal, space;
  int trials, batch, jobs, confirm;
  bool together;
  std::string launcher;
  bool plots;
  std::filesystem::path out;
  UncertaintyFlags uncertainty;
};

/// Of a run, where a search has its own or none.
const std::set<std::string> own_of_a_run{"out",        "progress",         "record", "trace",
                                         "checkpoint", "checkpoint-every", "resume"};

CommandLine tune_command_line() {
  return {
      "tune",
      "Searches for the flags of a run that make it fastest, and leaves them as a file for run --config. Runs that\n"
      "are finished are kept, so the same command continues.",
      "trigram tune --workload vgg16 --cluster p3_16xlarge:nic_bandwidth=5Gbps --trials 40 --out results/tuned",
      beside_flags_of_run(declared_flags<TuneFlags>("trigram tune"), own_of_a_run)};
}

/// The flags of the run that a search begins at, files of flags read in.
Settings given_run(Settings given) {
  if (const auto file = given.find("config"); file != given.end()) {
    const std::string path = file->second;
    given.erase(file);
    given = layered(read_settings(path), given);
    for (const std::string& flag : own_of_a_run) given.erase(flag);
  }
  return given;
}

RunConfig config_of(const Settings& given) {
  return RunConfig("trigram tune", resolved(with_system(given, run_flags()), run_defaults()));
}

/// A value that no run can have is refused before the first trial.
void require_possible(const std::vector<Choice>& choices, const Settings& given) {
  for (const Choice& choice : choices) {
    for (const std::string& value : choice.examples()) {
      Settings one = layered(given, choice.when);
      one[choice.key] = value;
      located(choice.place, [&] { return config_of(one); });
    }
  }
}

/// "time_to_loss=0.3" as measure and goal.
nlohmann::json objective(const std::string& text, const RunConfig& begin) {
  if (text == "iteration_s") return {{"measure", text}, {"goal", nullptr}};
  const std::string measure = text.substr(0, text.find('='));
  require(measure == "time_to_loss" && text.size() > measure.size(), "trigram tune: --for ", shown(text),
          " is neither iteration_s nor time_to_loss=LOSS");
  const std::optional<double> goal = finite_number(text.substr(measure.size() + 1));
  require(goal && *goal > 0, "trigram tune: --for ", shown(text),
          ": the loss is a number above 0, as time_to_loss=0.3");
  require(begin.training.evaluate_every > 0 || parse_quantity(begin.settings.at("evaluate-seconds"), Unit::seconds) > 0,
          "trigram tune: --for ", shown(text),
          " looks at evaluations, and there are the first and the last only; give --evaluate-every STEPS");
  return {{"measure", measure}, {"goal", *goal}};
}

std::filesystem::path space_file(const TuneFlags& flags) {
  const std::string shipped = flags.goal.substr(0, flags.goal.find('='));
  return find_config("tune", "search space", flags.space.empty() ? shipped : flags.space);
}

/// What the searching script needs to know.
nlohmann::json plan(const TuneFlags& flags, const Settings& given, const RunConfig& begin) {
  const nlohmann::json goal = objective(flags.goal, begin);
  const std::vector<Choice> choices = read_search_space(space_file(flags));
  require_possible(choices, given);
  nlohmann::json facts = nlohmann::json::array();
  for (const Choice& choice : choices) facts.push_back(choice_facts(choice));
  return {{"program", std::filesystem::read_symlink("/proc/self/exe").string()},
          {"build", build_facts()},
          {"for", goal},
          {"settings", given},
          {"defaults", begin.settings},
          {"choices", facts},
          {"simulated", begin.backend.backend == "sim"},
          {"trials", flags.trials},
          {"batch", flags.batch},
          {"jobs", flags.jobs},
          {"confirm", flags.confirm},
          {"seed", begin.training.relaxation.seed},
          {"together", flags.together},
          {"launcher", flags.launcher},
          {"out", flags.out.string()}};
}

/// Draws need a time of an iteration that a simulator gives.
void require_drawable(const TuneFlags& flags, const RunConfig& begin) {
  if (!flags.uncertainty.given || flags.uncertainty.draws == 0) return;
  require(begin.backend.make()->simulated() && flags.goal == "iteration_s",
          "trigram tune: --uncertainty draws the time of an iteration on a simulated cluster; leave it out for --for ",
          shown(flags.goal), " on backend ", Quoted(begin.backend.backend));
}

/// What nobody has asked for is drawn where a simulated profile varies.
bool draws(const TuneFlags& flags, const Settings& given, const RunConfig& begin) {
  if (flags.uncertainty.given || flags.uncertainty.draws == 0) return flags.uncertainty.draws > 0;
  return flags.goal == "iteration_s" && is_profile(given) && begin.backend.make()->simulated() &&
         !uncertain_parameters(resolved(with_cluster(with_system(given, run_flags())), run_defaults())).empty();
}

/// The given and the best at the same draws, printed, and left as uncertainty.txt.
void add_uncertainty(const TuneFlags& flags, const Settings& given, const RunConfig& begin) {
  const Settings found = read_settings(flags.out / "best.cfg");
  const RunConfig best = config_of(found);
  const int jobs = std::max(2, flags.jobs);
  std::vector<UncertainQuestion> questions;
  for (const Settings& one : {given, found})
    questions.push_back(
        {resolved(with_cluster(with_system(one, run_flags())), run_defaults()), "", "", "trigram tune: "});
  const std::vector<UncertainTime> times = uncertain_times(questions, flags.uncertainty.with(jobs));
  const double nothing = std::nan("");
  const std::string text =
      "the given\n" + uncertainty_lines(times[0], flags.uncertainty, begin.place.where(), nothing) + "the best\n" +
      uncertainty_lines(times[1], flags.uncertainty, best.place.where(), nothing) +
      "  the best is faster with a probability of " + decimal(100 * chance_of_less(times[1], times[0]), 3) + " %\n";
  std::cout << text;
  write_file(flags.out / "uncertainty.txt", text);
}

int tune(const Arguments& arguments) {
  const CommandLine command_line = tune_command_line();
  if (command_line.helped(arguments)) return 0;
  const OwnAndRun parts = parted(command_line.parse(arguments), declared_flags<TuneFlags>("trigram tune"));
  Params own = as_params("trigram tune", parts.own);
  const TuneFlags flags(own);
  const Settings given = given_run(parts.run);
  const RunConfig begin = config_of(given);
  require_drawable(flags, begin);
  const nlohmann::json planned = plan(flags, given, begin);
  const ResultFolder folder(flags.out, {"tune.json", "trials.csv", "best.cfg", "summary.txt", "uncertainty.txt"});
  std::optional<FolderLock> lock;
  if (!flags.together) lock.emplace(flags.out, "a search");
  const int code = run_script(shipped_folder("tune") / "tune.py", planned.dump());
  require(code != no_optuna,
          "optuna is missing, which searches; install python3-optuna, or by pip install 'trigram[tuning]'");
  if (code == 0 && draws(flags, given, begin)) add_uncertainty(flags, given, begin);
  if (code == 0 && flags.plots) draw({flags.out});
  return code;
}

}  // namespace

const Subcommand tune_subcommand = {"tune", "search for the flags that make a run fastest", tune};

}  // namespace trigram
