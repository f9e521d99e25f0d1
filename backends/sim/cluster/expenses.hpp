// What a cluster takes beside time: energy, and money.
#pragma once

#include <map>
#include <string>

#include "core/registry/params.hpp"

namespace trigram::sim {

/// Of a second of a GPU that has a kernel to run, of one of a GPU that has none, and of a byte between nodes.
struct Expense {
  double busy_gpu_s = 0, idle_gpu_s = 0, byte = 0;
};

/// By the column that result files have it in: "energy_J", "money_USD". What nobody gave is not there.
using Expenses = std::map<std::string, Expense>;

/// Throws UsageError for joules that are given in part, so that they would be too few.
Expenses read_expenses(Params& params);

}  // namespace trigram::sim
