// Draws a result folder with the shipped matplotlib script.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/study/study.hpp"

namespace trigram {

/// How pictures are drawn, and where.
struct PictureOptions {
  std::string formats = "png,svg";  ///< of each picture: png, svg and pdf, apart by commas
  int columns =
      0;  ///< of a two-column paper, that a picture is as wide as: 1 or 2; 0: as wide as it likes, for a screen
  std::filesystem::path out = {};  ///< folder of the pictures; empty: that of the results
  CurveView curves = {};           ///< wins over the study's own
};

/// Draws pictures of a run or of a study; of several runs, beside each other, into `out`, which they need.
/// Throws UsageError when a folder holds neither, a format is none of these, or Python or a module that draws is
/// missing, saying what to install.
void draw(const std::vector<std::filesystem::path>& folders, const PictureOptions& options = {});

/// Throws UsageError where the folder holds the results of neither a run, a study nor a search.
void require_results(const std::filesystem::path& folder);

}  // namespace trigram
