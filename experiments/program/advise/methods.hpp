// The methods among which advice is given: which of them are asked for, and how each is simulated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trigram {

/// What may be advised.
struct MethodChoice {
  std::vector<std::string> names;  ///< empty: all that this build has
  bool keep_accuracy = false;      ///< only what is synchronous, in full precision, central, and exchanges in each step
  std::int64_t max_staleness = -1;  ///< steps that what is averaged may be old; below 0: any
};

/// One way to train.
struct Method {
  std::string name;
  std::string simulated;   ///< its parameters once a warm-up is over
  std::int64_t steps = 4;  ///< whole periods of one that does not exchange in every step
};

/// Those that fit the choice, by name. Throws UsageError for a name that there is none of.
std::vector<Method> methods(const MethodChoice& choice);

}  // namespace trigram
