// What a backend of threads can do wrong, one thing at a time, so that suites can be seen to find it.
#pragma once

#include <cstdint>
#include <string>

namespace trigram {

/// Each is a fault that a transport can have.
enum class ThreadMutation : std::uint8_t {
  none,
  loses_a_message,           ///< the fourth message that rank 1 of a group sends never comes
  repeats_a_message,         ///< the same message comes twice
  swaps_messages,            ///< of an exchange with several peers, the first two of a size lie in each other's buffers
  cuts_messages,             ///< the last byte of each message stays what it was
  mixes_up_nodes,            ///< lanes have other nodes than the backend says
  takes_another_all_reduce,  ///< than the world asks for
  serves_twice,              ///< a question without appointment is put twice
};

/// By name; throws UsageError where there is none.
ThreadMutation thread_mutation(const std::string& name);

}  // namespace trigram
