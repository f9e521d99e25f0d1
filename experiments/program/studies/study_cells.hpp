// A study taken apart: its cells as a file, and some of them made.
#pragma once

#include "experiments/program/studies/study_flags.hpp"
#include "experiments/study/comparison/compare.hpp"
#include "experiments/study/study.hpp"

namespace trigram {

/// What the study is compared with; empty where it has no [target].
Published published_of(const Study& study);

/// Writes plan.jsonl, one line a cell that is not finished: first those of which nobody knows how long they take, then
/// those that are expected to take longest. Prints what it holds.
void write_plan(const Study& study, const StudyFlags& flags, const Published& published);

/// Makes the cells that --cells names and that are not there, and prints a line of costs for each. Takes no lock, since
/// others may do the same at the same time. Returns the exit code: 1 where one failed. Throws UsageError.
int make_cells(const Study& study, const StudyFlags& flags, const Published& published);

/// Removes what is of use while runs are missing: plan, costs, runs that were not finished.
void remove_leftovers(const std::filesystem::path& study);

}  // namespace trigram
