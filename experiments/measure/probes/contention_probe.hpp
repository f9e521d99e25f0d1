// What else goes on at the same time: kernels beside collectives and codecs, a message on a link that is busy.
#pragma once

#include <vector>

#include "core/lane/worker.hpp"

namespace trigram {

/// What a rank measured in one round, in seconds.
struct ContentionTimes {
  double alone = 0;                                              ///< of some matrix products
  double beside_collectives = 0;                                 ///< of the same while another lane gathers
  double beside_codecs = 0;                                      ///< while another lane encodes
  bool collectives_outlasted = false, codecs_outlasted = false;  ///< whether the other lane was busy until their end
  double idle_link = 0;  ///< of an empty message from a node to another, next to 0 on ranks without one; 0 on one node
  double busy_link = 0;  ///< of the same while another lane sends long ones that way
};

/// One entry a round. `phantom` where time is a model's.
std::vector<ContentionTimes> probe_contention(RankRuntime& runtime, const std::vector<int>& node_of_rank, int rounds,
                                              bool phantom);

}  // namespace trigram
