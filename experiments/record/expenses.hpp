// What a run takes beside time: joules and dollars, where its cluster has rates for them.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/training/training.hpp"

namespace trigram {

/// What one rank or all of them used by some moment.
struct Used {
  double gpu_s = 0;   ///< of all GPUs, busy or not
  double busy_s = 0;  ///< of those: with a kernel to run
  double bytes = 0;   ///< sent to other nodes
};

/// One column of result files.
struct Expense {
  std::string name;
  double busy_gpu_s = 0, idle_gpu_s = 0, byte = 0;

  double of(const Used& used) const {
    return used.busy_s * busy_gpu_s + (used.gpu_s - used.busy_s) * idle_gpu_s + used.bytes * byte;
  }
};

/// The columns that there can be.
inline constexpr std::array expense_names{"energy_J", "money_USD"};

/// Those for which the backend's facts have rates, in the order of their names.
std::vector<Expense> expenses_of(const Training& training);

/// Of all ranks, and of members that are gone: from the clock's beginning until an evaluation, and until the last rank
/// has ended. Of ranks that train, what they do in steps: in setup, evaluations and the finish they count as idle, and
/// send for nothing. Of ranks that only serve, what they do counts in the whole run alone.
Used used_until(const EvalRow& row, const Training& training);
Used used_in_all(const Training& training);

}  // namespace trigram
