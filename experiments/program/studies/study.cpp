// trigram study: many runs as one file describes them, their table and their pictures.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/scripts/plotting.hpp"
#include "experiments/program/studies/prediction_cells.hpp"
#include "experiments/program/studies/study_cells.hpp"
#include "experiments/program/studies/study_draws.hpp"
#include "experiments/program/studies/study_executor.hpp"
#include "experiments/program/studies/study_flags.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/record/resume/folder_lock.hpp"
#include "experiments/record/warnings.hpp"
#include "experiments/settings/build_facts.hpp"
#include "experiments/settings/launcher.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/study/comparison/agreement.hpp"
#include "experiments/study/comparison/selection.hpp"
#include "experiments/study/comparison/winner_map.hpp"
#include "experiments/study/possible_points.hpp"
#include "experiments/study/runs/forked_runs.hpp"
#include "experiments/study/runs/run_folder.hpp"
#include "experiments/study/runs/unmade_runs.hpp"
#include "experiments/study/study_calibration.hpp"
#include "experiments/study/study_file.hpp"
#include "experiments/study/study_files.hpp"
#include "processes/interruption.hpp"

namespace trigram {
namespace {

constexpr int interrupted_exit = 130;

nlohmann::json published_facts(const Published& published) {
  nlohmann::json points = nlohmann::json::array();
  for (const auto& [series, curve] : published) {
    for (const auto& [x, value] : curve) points.push_back({{"series", series}, {"x", x}, {"value", value}});
  }
  return points;
}

/// Where calibrated values come from, for tables and figures.
std::string source_of(const Study& study, const Calibrated& found) {
  const std::string file = study.file.filename().string();
  return found.searched ? "found by search over [calibrate] of " + file : "as [calibrated] of " + file + " says";
}

std::string calibration_lines(const Study& study, const Calibrated& found) {
  std::string text;
  for (const auto& [key, value] : found.values) {
    text += "calibrated " + key + " = " + value + ", " + source_of(study, found);
    const auto known = study.calibration->known.find(key);
    const bool differs = known != study.calibration->known.end() && known->second != value;
    text += (differs ? "; [calibrated] says " + known->second : "") + "\n";
  }
  for (const std::string& words : found.words) text += "  " + words + "\n";
  if (!found.values.empty() && !found.searched) text += "(trigram study --recalibrate searches again)\n";
  return text;
}

/// A few names, and how many more there are.
std::string some_of(const std::set<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown == most) return text + " and " + std::to_string(names.size() - most) + " more";
    text += (shown++ == 0 ? "" : ", ") + name;
  }
  return text;
}

/// Each warning once, with the rows whose runs gave it.
std::string warning_lines(const std::vector<StudyResult>& results) {
  std::map<std::string, std::set<std::string>> rows;
  for (const StudyResult& result : made(results)) {
    for (const std::string& warning : warnings_of(result.run.at("backend"))) rows[warning].insert(result.point.row);
  }
  std::string text;
  for (const auto& [warning, names] : rows) {
    text += "warning of " + some_of(names) + ": " + warning + "\n";
  }
  return text.empty() ? "" : "\n" + text;
}

nlohmann::json calibration_facts(const Study& study, const Calibrated& found) {
  return {{"values", found.values},
          {"source", found.values.empty() ? "" : source_of(study, found)},
          {"error", found.error ? nlohmann::json(*found.error) : nlohmann::json()},
          {"words", found.words}};
}

std::string choice_lines(const Selected& selected) {
  std::string text;
  for (const nlohmann::json& choice : selected.choices) {
    text += "chosen for " + choice["row"].get<std::string>() + ": " + choice["flag"].get<std::string>() + " = " +
            choice["chosen"].get<std::string>() + "\n";
  }
  return text;
}

std::vector<StudyResult> together(const std::vector<StudyResult>& main, const std::vector<StudyResult>& variants) {
  std::vector<StudyResult> all = main;
  all.insert(all.end(), variants.begin(), variants.end());
  return all;
}

std::string tables(const Study& study, const Published& published, const std::vector<StudyResult>& main,
                   const std::vector<StudyResult>& variants, bool drawn) {
  if (has_observations(study)) return agreement_table(study, together(main, variants));
  const bool told = drawn && study.rows.size() > 1;  // by draws, row against row
  std::string text = measure_table(study, main) + (told ? "" : fastest_table(study, main));
  if (study.goal) text += "\n" + goal_table(study, main);
  if (study.target)
    text += "\n" + error_table(study, compare(study, published, main), compare(study, published, variants));
  return text;
}

/// What a map has beside the runs of its grid.
struct MapRuns {
  MapRuns(const Study& study, RunPool& pool)
      : own(pool.run(own_points(study), "runs on the cluster's own network")),
        learning(pool.run(learning_points(study), "learning runs")) {
    if (study.learning) steps = steps_to_goal(study, learning);
  }

  std::vector<StudyResult> own, learning;
  std::optional<StepsToGoal> steps;
};

/// The runs that failed, and the points for which nothing could be chosen.
std::vector<FailedRun> all_failed(const RunPool& pool, const Selected& selected) {
  std::vector<FailedRun> failed = pool.failed();
  failed.insert(failed.end(), selected.without.begin(), selected.without.end());
  return failed;
}

/// The main runs; a point for which nothing could be chosen is one that failed.
std::vector<StudyResult> main_results(const Selected& selected, RunPool& pool) {
  std::vector<StudyResult> results = pool.run(selected.points, RunPool::main_phase);
  for (const FailedRun& one : selected.without) results.push_back({one.point, "", nullptr, one.message, one.missing});
  return results;
}

/// Tables, files and pictures of the runs of a pool, which makes those that it has to. Throws Error at the end, when
/// everything that there is has been written and drawn, where runs failed or are missing.
void conduct(const Study& study, const StudyFlags& flags, const Published& published, RunPool& pool) {
  const Calibrated found = calibrate(study, published, pool, flags.recalibrate);
  const Selected selected = select(study, main_points(study, found.values), pool);
  const MapRuns beside(study, pool);
  const std::vector<StudyResult> main = main_results(selected, pool);
  const std::vector<StudyResult> variants = pool.run(variant_points(study, found.values), "runs of variants");
  const std::optional<StudyUncertainty> uncertainty = study_draws(study, main, beside.own, flags);

  const std::vector<FailedRun> failed = all_failed(pool, selected);
  const std::size_t asked = pool.asked() + selected.without.size();
  const std::string chosen = calibration_lines(study, found) + choice_lines(selected);
  const std::vector<StudyResult> all = together(together(main, variants), together(beside.own, beside.learning));
  const auto ranges = uncertainty ? uncertainty->ranges() : std::map<std::string, Spread>();
  const DrawnTimes drawn = uncertainty ? uncertainty->drawn() : DrawnTimes();
  const std::string table =
      study.title + "\n\n" + chosen + (chosen.empty() ? "" : "\n") +
      (study.map ? winner_table(study, main, beside.own, beside.learning, drawn)
                 : tables(study, published, main, variants, uncertainty && uncertainty->has_ranges())) +
      (uncertainty ? uncertainty->table() : "") + warning_lines(all) + failure_lines(failed, asked);
  nlohmann::json facts = study_facts(study);
  facts["build"] = build_facts();
  facts["run"] = study.run;
  if (study.map) facts["map"] = map_facts(study, beside.own, beside.steps);
  facts["published"] = published_facts(published);
  facts["calibration"] = calibration_facts(study, found);
  facts["selection"] = selected.choices;
  facts["failed"] = failure_facts(failed);
  write_file(flags.out / "runs.csv", runs_csv(study, all, ranges));
  std::filesystem::remove(flags.out / "uncertainty.csv");
  if (uncertainty) write_file(flags.out / "uncertainty.csv", uncertainty->csv());
  if (has_observations(study)) write_file(flags.out / "agreement.csv", agreement_csv(predictions(study, main)));
  if (study.map) write_file(flags.out / "winners.csv", winners_csv(study, main, beside.steps, drawn));
  write_file(flags.out / "table.txt", table);
  write_file(flags.out / "study.json", facts.dump(2) + "\n");
  std::cout << table;
  if (flags.plots && !made(all).empty()) draw({flags.out});
  if (failed.empty()) remove_leftovers(flags.out);
  std::cout << "\nfiles: " << flags.out.string() << "/" << (study.notes ? "; notes: " + study.notes->string() : "")
            << std::endl;
  ensure(failed.empty(), [&] { return first_failure(failed, asked); });
}

/// All runs here, each where it is missing.
void make_here(const Study& study, const StudyFlags& flags, const Published& published) {
  ForkedRuns here(flags.jobs);
  RunPool pool(flags.out, here);
  remove_abandoned_runs(flags.out);
  pool.check(possible_points(study, flags.recalibrate), flags.jobs);
  conduct(study, flags, published, pool);
}

/// What there is.
void collect(const Study& study, const StudyFlags& flags, const Published& published) {
  UnmadeRuns nowhere;
  RunPool pool(flags.out, nowhere);
  conduct(study, flags, published, pool);
}

/// What is asked for by the flags; the exit code.
int take_apart(const Study& study, const StudyFlags& flags) {
  if (flags.uncertainty.given && flags.uncertainty.draws > 0) require_uncertain_measure(study);
  const Published published = published_of(study);
  if (!flags.cells.empty()) return make_cells(study, flags, published);
  const ResultFolder folder(flags.out,
                            {"runs.csv", "table.txt", "study.json", "agreement.csv", "winners.csv", "uncertainty.csv"});
  if (flags.plan) {
    write_plan(study, flags, published);  // which nobody is in the way of
    return 0;
  }
  const FolderLock lock(flags.out, "a study");
  (flags.collect ? collect : make_here)(study, flags, published);
  return 0;
}

int run_study(const Arguments& arguments) {
  const CommandLine command_line{
      "study",
      "Makes the runs of a study, a process each; finished runs are kept, so the same command continues. Runs that "
      "fail take nothing from the others: tables and pictures say what is missing, and the command ends with 1.",
      "trigram study bagua_bandwidth --jobs 4",
      study_flags(),
      "STUDY",
      "the name of a study that is shipped (trigram list studies), or the path of a study file, as ./mine.cfg;\n"
      "its format is described in " +
          (shipped_folder("studies") / "README.md").string()};
  if (command_line.helped(arguments)) return 0;
  const auto [words, slurm] = without_slurm_flags(arguments);
  const Settings given = command_line.parse(words);
  const StudyFlags flags = read_study_flags(given);
  if (flags.cells.empty()) {
    require_started_alone("trigram study");
  } else {
    count_as_started_alone();  // each of several has cells of its own
  }
  if (flags.executor.empty()) require_no_flags_of_slurm("trigram study", flags.dry_run, slurm);
  try {
    Study study = read_study(flags.file);
    study.run = layered(study.run, flags_of_runs(given, study));
    return flags.executor.empty() ? take_apart(study, flags) : execute(flags, given, slurm);
  } catch (const Interruption&) {
    std::cerr << "trigram: interrupted; finished runs are kept in " << flags.out.string()
              << ", the same command continues\n";
    return interrupted_exit;
  }
}

}  // namespace

const Subcommand study_subcommand = {"study", "many runs, their table and their pictures", run_study, true};

}  // namespace trigram
