// Draws a result folder with the shipped matplotlib script.
#pragma once

#include <filesystem>

namespace trigram {

/// Draws PNG and SVG files into the folder of a run or of a study. Throws UsageError when the folder holds neither, or
/// Python or matplotlib is missing, saying what to install.
void draw(const std::filesystem::path& folder);

}  // namespace trigram
