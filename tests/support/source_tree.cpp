// Alone in its file, since the path is this checkout's: a compiler cache serves every other file to every checkout.
#include "tests/support/source_tree.hpp"

namespace trigram {

std::filesystem::path source_tree() { return TRIGRAM_SOURCE_DIR; }

}  // namespace trigram
