// What the ranks of a run on threads share.
#pragma once

#include <vector>

#include "backends/threads/channel.hpp"
#include "backends/threads/ending.hpp"
#include "backends/threads/gatherings.hpp"
#include "backends/threads/inbox.hpp"

namespace trigram::threads {

/// Each part may be used by all ranks at once.
struct Network {
  explicit Network(int ranks) : gatherings(ranks), inboxes(static_cast<std::size_t>(ranks)) {}

  Ending ending;
  Channels channels;
  Gatherings gatherings;
  std::vector<Inbox> inboxes;  ///< by rank
};

}  // namespace trigram::threads
