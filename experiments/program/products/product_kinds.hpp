// The names that products and shipped files have, by kind.
#pragma once

#include <string>
#include <vector>

namespace trigram {

/// All of a kind, which is the word that messages use, as "algorithm" or "cluster". Throws Error for another word.
std::vector<std::string> names_of_kind(const std::string& kind);

}  // namespace trigram
