// Where the program under test is; alone in its file, since the path is this checkout's.
#include "tests/experiments/program_rig.hpp"

namespace trigram {

std::string program_path() { return TRIGRAM_PROGRAM; }

}  // namespace trigram
