// Which work of streams precedes which, by the calls that order it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cuda_on_host {

/// How much of each stream's work has been done by some moment, in the order of streams' numbers.
using StreamClock = std::vector<std::uint64_t>;

/// A piece of work that was ordered on a stream.
struct StreamWork {
  std::size_t stream = 0;
  std::uint64_t number = 0;
  /// What is done when it begins.
  StreamClock before;
  /// "stream 3"; streams are counted as they are made.
  std::string on;

  bool precedes(const StreamWork& other) const {
    return stream < other.before.size() && other.before[stream] >= number;
  }
};

/// From now on the order is followed. Work of one stream is in order; events order that of others, and the host orders
/// what it gives out after it has waited for something before what it waited for. All threads of the host count as one,
/// as if each knew what the others know, so that what is found is missing whatever they tell each other.
void follow_stream_order();

/// Wraps work so that current_work() tells of it while it runs; the work itself where the order is not followed.
std::function<void()> followed(cudaStream_t stream, std::function<void()> work);
/// Null on a thread that does no work of a stream, or where the order is not followed.
const StreamWork* current_work();

/// What an event stands for that is recorded on the stream now.
StreamClock clock_of(cudaStream_t stream);
void note_wait(cudaStream_t stream, const StreamClock& event);
void note_host_wait(const StreamClock& event);
void note_host_wait_for(cudaStream_t stream);
void note_host_wait_for_all();
void note_end_of(cudaStream_t stream);

/// Whether all that has been ordered from now on comes behind this work, and all that was ordered before has been done.
bool is_past(const StreamWork& work);

}  // namespace cuda_on_host
