// Kinds of files, each a script of a shipped folder's kinds/.
#pragma once

#include <map>
#include <string>

#include "experiments/settings/settings.hpp"

namespace trigram {

/// The kinds by name, each with the first line of its file.
std::map<std::string, std::string> script_kinds(const std::string& folder);

/// A line each, for a synopsis: "\n  name: summary".
std::string listed(const std::map<std::string, std::string>& kinds);

/// What was given as KIND; empty where nothing was. Throws UsageError, which calls it `what`, for none of the kinds.
std::string known_script_kind(const std::string& folder, const std::string& what, const Settings& settings);

}  // namespace trigram
