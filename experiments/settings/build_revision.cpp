// Alone in its file, since it is another with each commit, which would compile all beside it anew. The build defines
// the macro; without it the revision is "unknown".
#include "experiments/settings/build_facts.hpp"

#ifndef TRIGRAM_REVISION
#define TRIGRAM_REVISION "unknown"
#endif

namespace trigram {

std::string build_revision() { return TRIGRAM_REVISION; }

}  // namespace trigram
