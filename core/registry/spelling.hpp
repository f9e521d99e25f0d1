// "Did you mean" for a name that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trigram {

/// " (did you mean 'qsgd'?)", for a message that has just named `word`; empty where nothing known is near. Near is a
/// name with few letters changed, left out, added or swapped, whatever the case, '-' or '_', and one that `word`
/// begins.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace trigram
