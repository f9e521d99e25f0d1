// Words, numbers and grids of numbers, as study files write them.
#pragma once

#include <string>
#include <vector>

namespace trigram {

/// A text split at blanks.
std::vector<std::string> words_in(const std::string& text);

/// A whole text as a number. Throws UsageError.
double parse_number(const std::string& text);

/// Words as they are, except "FIRST:LAST:STEP" of three numbers, which becomes every value from FIRST to LAST.
/// Throws UsageError for a step that never arrives.
std::vector<std::string> expand_grid(const std::vector<std::string>& words);

/// Throws UsageError where `factor` leads from `low` to `high` in more sizes than anybody measures. `owner` is what the
/// message names.
void require_few_sizes(double low, double high, double factor, const char* owner);

}  // namespace trigram
