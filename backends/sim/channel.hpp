// The messages from one rank of a group to another.
#pragma once

#include <simgrid/s4u.hpp>
#include <vector>

#include "core/values/buffer.hpp"

namespace trigram::sim {

/// Both ends are matched in order. Bytes are copied when both ends are there;
/// SimGrid sees sizes only.
struct Channel {
  simgrid::s4u::Mailbox* mailbox = nullptr;
  std::vector<Buffer> waiting;  ///< of the end that is ahead
  std::size_t next = 0;         ///< first of `waiting` that is not matched yet
  bool sends_wait = false;
  std::int64_t matched = 0;  ///< messages whose ends have both come
};

}  // namespace trigram::sim
