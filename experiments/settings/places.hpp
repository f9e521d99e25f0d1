// Clusters, studies and plots that the program comes with, by name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trigram {

/// The folder of "clusters", "studies" or "plot" among the shipped files. Throws UsageError naming the places that were
/// tried when there is none.
std::filesystem::path shipped_folder(const std::string& kind);

/// The names of the .cfg files of that folder, sorted, without extension.
std::vector<std::string> shipped_names(const std::string& kind);

/// A path as given when it names a file (it has a '/' or ends in .cfg or .xml), else the shipped file of that name.
/// Throws UsageError for a file that does not exist and for an unknown name, with the names that exist. `word` is what
/// messages call it: "cluster", "study".
std::filesystem::path find_config(const std::string& kind, const std::string& word, const std::string& name);

/// The reference page of a subcommand of the program, where it is shipped.
std::optional<std::filesystem::path> reference_page(const std::string& subcommand);

}  // namespace trigram
