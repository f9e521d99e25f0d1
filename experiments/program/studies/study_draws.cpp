#include "experiments/program/studies/study_draws.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/fit/interpolated_times.hpp"
#include "experiments/program/studies/prediction_cells.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/study/comparison/measured.hpp"
#include "experiments/study/runs/first_steps.hpp"
#include "processes/interruption.hpp"

namespace trigram {
namespace {

constexpr std::int64_t most_simulations = 4;  // of a run

bool measures_iterations(const Study& study) {
  const std::string& measure = study.measure.value;
  return measure == "summary.iteration_s" || measure == "summary.iteration_median_s";
}

/// Where a run stands among those of its row: which of the values of each swept key it has.
std::vector<double> place_in_row(const Study& study, const StudyResult& result) {
  std::vector<double> place;
  for (const Axis& axis : study.sweep) {
    const auto value = result.point.axes.find(axis.key);
    const auto found =
        value == result.point.axes.end() ? axis.values.begin() : std::ranges::find(axis.values, value->second);
    place.push_back(static_cast<double>(found - axis.values.begin()));
  }
  return place;
}

bool can_be_drawn(const StudyResult& result) {
  return result.run.at("backend").contains("simgrid") && !result.run.contains("membership");
}

/// As draws are simulated.
bool is_fluid(const Settings& run) {
  const auto fidelity = run.find("fidelity");
  return fidelity != run.end() && fidelity->second == "fluid";
}

/// The cluster's own network stands beside the grid, and has no neighbours that tell of it. Nothing of a run that
/// trains, where it would have to be trained again.
std::optional<MadeRun> made_run(const Study& study, const StudyResult& result, const std::filesystem::path& folder) {
  const FirstSteps few = first_steps(folder / result.folder);
  if (!can_be_drawn(result) || (few.count == few.of && !result.run.at("workload").at("phantom").get<bool>()))
    return std::nullopt;
  const bool own = result.point.variant == own_network;
  MadeRun run{question_of(result), result.point.row + (own ? std::string(", ") + own_network : ""),
              place_in_row(study, result)};
  run.seconds = measured(study, result) / study.measure.scale;
  run.error = error_bar_of(result);
  run.steps = few.count;
  run.seconds_of_steps = is_fluid(run.question.run) ? few.seconds : std::nan("");
  run.simulations = static_cast<int>(own ? most_simulations : std::min(most_simulations, few.of / few.count));
  return run;
}

bool says_something(const MadeRun& run) {
  return !std::isnan(run.error) || !uncertain_parameters(run.question.run).empty();
}

std::string how_told(const InterpolatedTimes& told) {
  if (told.simulations == 0) return "";
  return ", told by " + std::to_string(told.simulations) + " short simulations, each by the others of its row " +
         error_bar_text(told.off) + " (--uncertainty 32 simulates all draws)";
}

/// Nothing where no file states anything that could be drawn.
std::optional<StudyUncertainty> interpolated_draws(const Study& study, DrawnRuns runs, const StudyFlags& flags) {
  std::vector<MadeRun> made;
  std::erase_if(runs, [&](const StudyResult* result) {
    std::optional<MadeRun> run = made_run(study, *result, flags.out);
    if (run) made.push_back(*run);
    return !run;
  });
  if (std::ranges::none_of(made, says_something)) return std::nullopt;
  const PredictionSource source{flags.jobs, flags.out / "draws", /*makes=*/!flags.collect};
  InterpolatedTimes told = interpolated_times(made, flags.uncertainty.from(source));
  return StudyUncertainty(study, std::move(runs), std::move(told.times), how_told(told));
}

/// What nobody has asked for does not end a study.
std::optional<StudyUncertainty> drawn_by_itself(const Study& study, DrawnRuns runs, const StudyFlags& flags) {
  if (!measures_iterations(study) || has_observations(study)) return std::nullopt;
  try {
    return interpolated_draws(study, std::move(runs), flags);
  } catch (const Interruption&) {
    throw;
  } catch (const Error& error) {
    std::cerr << "trigram: no ranges are drawn: " << error.what() << "; --uncertainty 0 leaves them out" << std::endl;
    return std::nullopt;
  }
}

}  // namespace

void require_uncertain_measure(const Study& study) {
  require(measures_iterations(study), "trigram study: --uncertainty draws the time of an iteration, and ",
          Quoted(study.file.native()), " measures ", study.measure.value, "; leave --uncertainty out");
}

StudyUncertainty whole_draws(const Study& study, DrawnRuns runs, const Draws& draws) {
  std::vector<UncertainQuestion> questions;
  for (const StudyResult* result : runs) questions.push_back(question_of(*result));
  return {study, std::move(runs), uncertain_times(questions, draws), ""};
}

std::optional<StudyUncertainty> study_draws(const Study& study, const std::vector<StudyResult>& main,
                                            const std::vector<StudyResult>& own, const StudyFlags& flags) {
  if (flags.uncertainty.draws == 0) return std::nullopt;
  DrawnRuns runs = drawn_runs(study, main, own);
  if (!flags.uncertainty.given) return drawn_by_itself(study, std::move(runs), flags);
  const std::filesystem::path kept = predictions_of(flags.out);
  const PredictionSource source{flags.jobs, std::filesystem::exists(kept) ? kept : std::filesystem::path()};
  return whole_draws(study, std::move(runs), flags.uncertainty.from(source));
}

}  // namespace trigram
