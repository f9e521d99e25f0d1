#include "experiments/program/studies/study_uncertainty.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "core/values/decimal.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/system.hpp"
#include "experiments/study/study_files.hpp"

namespace trigram {
namespace {

UncertainQuestion question_of(const StudyResult& result) {
  const StudyPoint& point = result.point;
  return {resolved(with_cluster(with_system(point.settings, run_flags())), run_defaults()), "", "", point.place};
}

/// The swept values of a run, where rows are compared with each other.
std::string place_of(const Study& study, const StudyResult& result) {
  std::string place;
  for (const Axis& axis : study.sweep) {
    if (axis.key != "seed") place += (place.empty() ? "" : ", ") + result.point.axes.at(axis.key);
  }
  return place;
}

/// The mean of each parameter's share over all runs, the largest first.
std::vector<std::pair<std::string, double>> mean_shares(const std::vector<UncertainTime>& times) {
  std::map<std::string, double> sums;
  for (const UncertainTime& time : times) {
    for (const auto& [key, share] : time.shares) sums[key] += share / static_cast<double>(times.size());
  }
  std::vector<std::pair<std::string, double>> shares(sums.begin(), sums.end());
  std::ranges::stable_sort(shares, std::greater<>(), [](const auto& one) { return one.second; });
  return shares;
}

}  // namespace

void require_uncertain_measure(const Study& study) {
  const std::string& measure = study.measure.value;
  require(measure == "summary.iteration_s" || measure == "summary.iteration_median_s",
          "trigram study: --uncertainty draws the time of an iteration, and ", Quoted(study.file.native()),
          " measures ", measure, "; leave --uncertainty out");
}

StudyUncertainty::StudyUncertainty(const Study& study, const std::vector<StudyResult>& main, const Draws& draws)
    : study_(study) {
  std::vector<UncertainQuestion> questions;
  std::set<std::pair<std::string, std::string>> seen;
  for (const StudyResult& result : made(main)) {
    if (!seen.emplace(result.point.row, place_of(study, result)).second) continue;
    results_.push_back(&result);
    questions.push_back(question_of(result));
  }
  times_ = uncertain_times(questions, draws);
}

std::map<std::string, std::vector<std::size_t>> StudyUncertainty::places() const {
  std::map<std::string, std::vector<std::size_t>> at;
  for (std::size_t i = 0; i < results_.size(); ++i) at[place_of(study_, *results_[i])].push_back(i);
  return at;
}

std::vector<double> StudyUncertainty::chances() const {
  std::vector<double> all(results_.size(), 1.0);
  for (const auto& [place, there] : places()) {
    std::vector<const UncertainTime*> times;
    for (const std::size_t i : there) times.push_back(&times_[i]);
    const std::vector<double> least = chances_of_least(times);
    for (std::size_t i = 0; i < there.size(); ++i) all[there[i]] = least[i];
  }
  return all;
}

std::string StudyUncertainty::table() const {
  if (times_.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"at", "the probability of each to be the fastest, by draws"}};
  const std::vector<double> fastest = chances();
  auto at = places();
  for (const StudyResult* result : results_) {
    const std::string place = place_of(study_, *result);
    const auto there = at.extract(place);
    if (there.empty() || there.mapped().size() < 2) continue;  // has its line, or nobody to be faster than
    std::vector<std::pair<std::string, double>> named;
    for (const std::size_t i : there.mapped()) named.emplace_back(results_[i]->point.row, fastest[i]);
    rows.push_back({place.empty() ? "all" : place, chances_text(named)});
  }
  const std::string cluster = question_of(*results_.front()).run.at("cluster");
  return "\n" + std::to_string(times_.front().draws.size()) + " draws of each run's ranges; uncertainty.csv has all\n" +
         (rows.size() > 1 ? aligned(rows) : "") + decided_by(mean_shares(times_), cluster.substr(0, cluster.find(':')));
}

std::string StudyUncertainty::csv() const {
  constexpr int digits = 6;
  std::string text = "folder,row,median,least_68,most_68,least_95,most_95,fastest,shares\n";
  const std::vector<double> fastest = chances();
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Spread of = times(times_[i].seconds, study_.measure.scale);
    text += trigram::quoted(results_[i]->folder) + "," + trigram::quoted(results_[i]->point.row);
    for (const double value : {of.median, of.of_68.least, of.of_68.most, of.of_95.least, of.of_95.most})
      text += "," + decimal(value, digits);
    text += "," + decimal(fastest[i], 3);
    std::string shares;
    for (const auto& [key, share] : times_[i].shares)
      shares += (shares.empty() ? "" : " ") + key + "=" + decimal(share, 3);
    text += "," + trigram::quoted(shares) + "\n";
  }
  return text;
}

DrawnTimes StudyUncertainty::drawn() const {
  DrawnTimes all;
  for (std::size_t i = 0; i < results_.size(); ++i) all[results_[i]->folder] = times_[i];
  return all;
}

std::map<std::string, Spread> StudyUncertainty::ranges() const {
  std::map<std::string, Spread> all;
  for (std::size_t i = 0; i < results_.size(); ++i)
    all[results_[i]->folder] = times(times_[i].seconds, study_.measure.scale);
  return all;
}

}  // namespace trigram
