// Pages of HTML, written by the script behind `trigram report`.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace trigram {

/// The page of the folder of a run, a study or a search, in that folder, or, where `advice` is not null, of what advise
/// says, which needs no folder. Prints the page's path and returns the exit code. Throws UsageError where a module of
/// Python is missing.
int write_page(const std::filesystem::path& page, const nlohmann::json& advice);

}  // namespace trigram
