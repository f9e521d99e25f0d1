// The runs of a study: every row at every swept value, and the variants.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "experiments/study/study.hpp"

namespace trigram {

/// One run to be made.
struct StudyPoint {
  std::string row, series, variant;  ///< variant is empty for a main run
  Settings axes;                     ///< swept key → value
  Settings settings;                 ///< all flags
  std::string place = "";            ///< "FILE:LINE: row 'NAME': ", for messages
};

/// What a point came to: its run.json, or why there is none.
struct StudyResult {
  StudyPoint point;
  std::string folder;        ///< under the study's own
  nlohmann::json run;        ///< null where the run failed
  std::string failure = "";  ///< what a run that failed said; empty where run.json is there
  bool missing = false;      ///< nobody has tried to make it
};

/// Those whose run was made, as a view of `results`, which must outlive it.
inline auto made(std::span<const StudyResult> results) {
  return std::views::filter(results, [](const StudyResult& one) { return one.failure.empty(); });
}

/// Takes points one by one.
using VisitPoint = std::function<void(StudyPoint point)>;

/// Rows × swept values in the order of the file, one by one: there may be more than are to be held at once.
void visit_main_points(const Study& study, const Settings& found, const VisitPoint& visit);

/// Rows × swept values in the order of the file. `found` lies between the fixed flags and the rows': what calibration
/// found.
std::vector<StudyPoint> main_points(const Study& study, const Settings& found);

/// The same of every variant.
std::vector<StudyPoint> variant_points(const Study& study, const Settings& found);

/// What runs of a map that lie beside its grid are called in the variant's place; no variant has such a name.
constexpr const char* own_network = "own network";
constexpr const char* learning_runs = "learning";

/// Of a map: every row on the cluster as it is, without swept values.
std::vector<StudyPoint> own_points(const Study& study);

/// The same with the flags of [learning], once for each of its seeds; none where the study has no such section.
std::vector<StudyPoint> learning_points(const Study& study);

/// The line that a point lies on: "bytegrad", or "bytegrad, lanes=2" where lanes is such a key.
std::string line_of(const Study& study, const StudyPoint& point);

/// All lines in the order of the file.
std::vector<std::string> lines_of(const Study& study);

/// The number at "summary.iteration_s" in run.json; NaN where there is none.
double value_at(const nlohmann::json& run, const std::string& path);

}  // namespace trigram
