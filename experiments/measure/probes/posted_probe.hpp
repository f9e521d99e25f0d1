// Messages that are posted together: what each costs the sender's host beside the first.
#pragma once

#include <vector>

#include "core/lane/worker.hpp"

namespace trigram {

/// Empty messages, from the first rank of each node to that of another, as all at once.
struct PostedTimes {
  double one = 0;   ///< seconds of an exchange of one message
  double many = 0;  ///< of so many more in the same exchange
};

/// How many more.
constexpr int posted_more = 8;

/// One entry a round; empty where all ranks are on one node, and zeros on ranks that take no part.
std::vector<PostedTimes> probe_posted(RankRuntime& runtime, const std::vector<int>& node_of_rank, int rounds);

}  // namespace trigram
