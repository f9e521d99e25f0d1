// The cells of a study that are known by now, taken apart from making them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

#include "experiments/study/comparison/compare.hpp"
#include "experiments/study/runs/run_task.hpp"
#include "experiments/study/study.hpp"

namespace trigram {

/// What there is beside the cells that are to be made.
struct KnownCells {
  std::size_t finished = 0;
  bool more_follow = false;  ///< which those that are to be made decide: by calibration, or by selection
};

/// Visits every run that the study needs and that is not finished in its folder, each once. One of each row is checked
/// as far as it can be before it is made, in `jobs` processes. Throws UsageError for a configuration that is refused.
KnownCells visit_cells(const Study& study, const Published& published, const std::filesystem::path& folder,
                       bool recalibrate, int jobs, const std::function<void(RunTask cell)>& visit);

}  // namespace trigram
