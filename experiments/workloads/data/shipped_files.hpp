// Where the files that come with Trigram lie: in the source tree, or where they were installed.
#pragma once

#include <filesystem>
#include <vector>

namespace trigram {

/// The places that hold experiments' files, best first: share/trigram beside the running program, which an installed
/// one has, whatever has become of its tree since; experiments/ of the source tree that was built, and that tree
/// itself, which has docs/; share/trigram under the install prefix. Some may not exist.
const std::vector<std::filesystem::path>& shipped_roots();

/// The file or folder `relative` (as "data/digits.csv.gz") in the first root that has it.
/// Throws UsageError naming every place that was tried.
std::filesystem::path shipped_file(const std::filesystem::path& relative);

}  // namespace trigram
