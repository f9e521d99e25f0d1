#include "experiments/program/studies/study_uncertainty.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "core/values/decimal.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/system.hpp"
#include "experiments/study/study_files.hpp"

namespace trigram {
namespace {

/// The swept values of a run, where rows are compared with each other.
std::string place_of(const Study& study, const StudyResult& result) {
  if (result.point.variant == own_network) return own_network;
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

/// A line where some cluster's calibration says nothing.
std::string unmeasured_line(const std::vector<UncertainTime>& times) {
  const auto found = std::ranges::find(times, false, &UncertainTime::measured);
  return found == times.end() ? "" : model_line(*found);
}

}  // namespace

UncertainQuestion question_of(const StudyResult& result) {
  const StudyPoint& point = result.point;
  return {resolved(with_cluster(with_system(point.settings, run_flags())), run_defaults()), "", "", point.place};
}

DrawnRuns drawn_runs(const Study& study, const std::vector<StudyResult>& main, const std::vector<StudyResult>& own) {
  DrawnRuns runs;
  std::set<std::pair<std::string, std::string>> seen;
  for (const std::vector<StudyResult>* all : {&main, &own}) {
    for (const StudyResult& result : made(*all)) {
      if (seen.emplace(result.point.row, place_of(study, result)).second) runs.push_back(&result);
    }
  }
  return runs;
}

StudyUncertainty::StudyUncertainty(const Study& study, DrawnRuns runs, std::vector<UncertainTime> times,
                                   std::string how)
    : study_(study), results_(std::move(runs)), times_(std::move(times)), how_(std::move(how)), chances_(chances()) {}

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

bool StudyUncertainty::has_ranges() const {
  return std::ranges::any_of(times_, [](const UncertainTime& one) { return one.ranges > 0; });
}

std::string StudyUncertainty::table() const {
  if (times_.empty()) return "";
  const std::string draws = "\n" + std::to_string(times_.front().draws.size()) + " draws of ";
  if (!has_ranges()) return draws + "the model's own error; uncertainty.csv has all\n" + unmeasured_line(times_);
  std::vector<std::vector<std::string>> rows = {{"at", "the probability of each to be the fastest, by draws"}};
  auto at = places();
  for (const StudyResult* result : results_) {
    const std::string place = place_of(study_, *result);
    const auto there = at.extract(place);
    if (there.empty() || there.mapped().size() < 2) continue;  // has its line, or nobody to be faster than
    std::vector<std::pair<std::string, double>> named;
    for (const std::size_t i : there.mapped()) named.emplace_back(results_[i]->point.row, chances_[i]);
    rows.push_back({place.empty() ? "all" : place, chances_text(named)});
  }
  const std::string cluster = question_of(*results_.front()).run.at("cluster");
  return draws + "each run's ranges" + how_ + "; uncertainty.csv has all\n" + unmeasured_line(times_) +
         (rows.size() > 1 ? aligned(rows) : "") + decided_by(mean_shares(times_), cluster.substr(0, cluster.find(':')));
}

std::string StudyUncertainty::csv() const {
  constexpr int digits = 6;
  std::string text = "folder,row,median,least_68,most_68,least_95,most_95,fastest,shares\n";
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Spread of = times(times_[i].seconds, study_.measure.scale);
    text += trigram::quoted(results_[i]->folder) + "," + trigram::quoted(results_[i]->point.row);
    for (const double value : {of.median, of.of_68.least, of.of_68.most, of.of_95.least, of.of_95.most})
      text += "," + decimal(value, digits);
    text += "," + decimal(chances_[i], 3);
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
