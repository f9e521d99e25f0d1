#include "tests/support/thread_mutation.hpp"

#include <array>
#include <utility>

#include "core/error.hpp"

namespace trigram {

ThreadMutation thread_mutation(const std::string& name) {
  using enum ThreadMutation;
  constexpr std::array all = {std::pair{"none", none},
                              std::pair{"loses_a_message", loses_a_message},
                              std::pair{"repeats_a_message", repeats_a_message},
                              std::pair{"swaps_messages", swaps_messages},
                              std::pair{"cuts_messages", cuts_messages},
                              std::pair{"mixes_up_nodes", mixes_up_nodes},
                              std::pair{"takes_another_all_reduce", takes_another_all_reduce},
                              std::pair{"serves_twice", serves_twice}};
  for (const auto& [known, mutation] : all) {
    if (name == known) return mutation;
  }
  throw UsageError("threads: '" + name + "' is no mutation");
}

}  // namespace trigram
