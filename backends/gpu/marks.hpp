// When the work of a stream began and ended.
#pragma once

#include <deque>

#include "backends/gpu/stream.hpp"
#include "core/device/timeline.hpp"
#include "processes/clock.hpp"

namespace trigram::gpu {

/// Events on a lane's stream, in seconds of the rank's clock. Each is timed from the one before it, so that a float's
/// precision is lost on short spans only.
class StreamMarks final : public Marks {
 public:
  StreamMarks(cudaStream_t stream, const Clock& clock);

  void set() noexcept override;
  std::optional<double> take(bool wait) noexcept override;
  /// The clock was restarted: waits for the stream and counts from here.
  void restart();

 private:
  struct Mark {
    Event event;
    double stopped = 0;  ///< how long the clock had stood still when the mark was ordered
  };

  cudaStream_t stream_;
  const Clock& clock_;
  EventPool pool_{Event::Kind::time};
  std::deque<Mark> marks_;
  Event last_{Event::Kind::time};  ///< of the mark that was taken last
  double last_seconds_ = 0;        ///< its time on a clock that never stands still
};

}  // namespace trigram::gpu
