// Values of a cluster's file with the ranges in which several fits of it lie.
#pragma once

#include <string>
#include <vector>

namespace trigram {

/// `file` with a range behind each quantity that differs between `sets`, texts of the same cluster fitted to parts of
/// what was measured: from the least to the most of all of them, itself included. Other lines stay as they are.
std::string with_ranges(const std::string& file, const std::vector<std::string>& sets);

}  // namespace trigram
