// What this program was built from and with. The build defines the TRIGRAM_ macros; without them the facts say
// "unknown".
#include "experiments/settings/build_facts.hpp"

#include <nlohmann/json.hpp>

#ifndef TRIGRAM_VERSION
#define TRIGRAM_VERSION "unknown"
#endif
#ifndef TRIGRAM_COMPILE_FLAGS
#define TRIGRAM_COMPILE_FLAGS "unknown"
#endif
#ifndef TRIGRAM_BUILD_TYPE
#define TRIGRAM_BUILD_TYPE "unknown"
#endif

namespace trigram {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

}  // namespace

std::string build_version() { return TRIGRAM_VERSION; }

nlohmann::json build_facts() {
  return {{"version", TRIGRAM_VERSION},
          {"revision", build_revision()},
          {"compiler", compiler()},
          {"build_type", TRIGRAM_BUILD_TYPE},
          {"flags", TRIGRAM_COMPILE_FLAGS}};
}

}  // namespace trigram
