// Draws a result folder with the shipped matplotlib script.
#pragma once

#include <filesystem>
#include <vector>

namespace trigram {

/// Draws PNG and SVG files of a run or of a study into its folder; of two runs, beside each other, into the first
/// one's. Throws UsageError when a folder holds neither, or Python or matplotlib is missing, saying what to install.
void draw(const std::vector<std::filesystem::path>& folders);

/// Throws UsageError where the folder holds the results of neither a run, a study nor a search.
void require_results(const std::filesystem::path& folder);

}  // namespace trigram
