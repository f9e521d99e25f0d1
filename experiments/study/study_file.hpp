// Reads study files.
#pragma once

#include <filesystem>

#include "experiments/study/study.hpp"

namespace trigram {

/// Reads a study. Throws UsageError naming file, line and key for anything unknown, missing or malformed, and for a
/// name of a row, a variant or the study that could not be part of the name of a file.
Study read_study(const std::filesystem::path& file);

}  // namespace trigram
