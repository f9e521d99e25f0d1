// What a lane was busy with, and when: the source of steps.csv's seconds and of trace.json.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/world/lane_layout.hpp"

namespace trigram {

/// What a span of time was spent on.
enum class Activity : std::uint8_t { compute, encode, wire, decode, wait };
inline constexpr int activity_count = 5;

/// "compute", "encode", "wire", "decode", "wait".
const char* name_of(Activity activity);

/// The collective that a span of wire is a part of: one that goes round by round has a span for each.
struct SpannedCall {
  std::int64_t size = 0;    ///< modelled bytes of its vector, or of all its parts
  std::int32_t number = 0;  ///< of the lane's collectives, from 1; 0: none
  const char* ranks = "";   ///< those of its group in the run, as "0-3,8"; lasts as long as the process
};

/// One span of a lane, in seconds of the backend's clock.
struct Span {
  Activity activity = Activity::compute;
  const char* name = "";  ///< a literal, as "all_reduce"
  double begin = 0;
  double end = 0;
  std::int64_t bytes = 0;  ///< sent, for wire spans
  SpannedCall call = {};
};

/// Where a lane is in a run, for error messages.
struct RunPlace {
  int rank = -1;  ///< negative: in no run
  int lane = 0;
  LaneLayout layout;
  std::int64_t step = -1;  ///< negative: before the first one
};

/// Times of a lane whose work runs later than it is enqueued, as on a GPU's stream (CUDA events). A mark is enqueued
/// after all work so far, and has a time once that work is done. Marks are taken in the order in which they were set.
class Marks {
 public:
  virtual ~Marks() = default;
  virtual void set() noexcept = 0;
  /// The time of the oldest mark that was not taken yet, in seconds of the backend's clock; nothing while it has not
  /// passed. With `wait` the host waits for it.
  virtual std::optional<double> take(bool wait) noexcept = 0;
};

/// The busy seconds of one lane by activity, and, when asked, every span. One lane writes; totals may be
/// read by any thread, spans only after the lane has ended.
class Timeline {
 public:
  Timeline(std::function<double()> clock, bool keep_spans) : clock_(std::move(clock)), keep_spans_(keep_spans) {}

  /// From now on a span begins and ends when its work does, not when it is enqueued. Spans then count once `settle`
  /// finds that their marks have passed.
  void use_marks(std::unique_ptr<Marks> marks) { marks_ = std::move(marks); }
  /// Counts the spans that ended since; with `wait` the host waits for all of them. Does nothing where no marks are
  /// used: there a span counts as soon as it ends.
  void settle(bool wait = false);

  double now() const { return clock_(); }
  /// Seconds spent so far on `activity`.
  double busy(Activity activity) const {
    return busy_[static_cast<std::size_t>(activity)].load(std::memory_order_relaxed);
  }
  /// Forgets the seconds so far, as at a checkpoint: sums from here on are rounded alike wherever training goes on.
  void count_anew() {
    for (auto& seconds : busy_) seconds = 0;
  }
  const std::vector<Span>& spans() const { return spans_; }
  void add(const Span& span);

  /// Another collective begins on the lane: its number.
  std::int32_t count_call() { return ++calls_; }

  /// What the lane is doing or enqueuing, for error messages: "all_reduce of bucket 3", "all_reduce", or empty. On the
  /// lane's own thread only.
  std::string doing() const;

  /// From now on the lane works there. On the lane's own thread only, as `where`.
  void be_at(const RunPlace& place) { place_ = place; }
  /// "rank 3, step 5, lane 1 (buckets 0, 2, ...), all_reduce of bucket 2"; what is not known is left out.
  std::string where() const;

  /// While it lives, the lane works for one bucket.
  class ForBucket {
   public:
    ForBucket(Timeline& timeline, int bucket) : timeline_(timeline) { timeline_.bucket_ = bucket; }
    ~ForBucket() { timeline_.bucket_ = no_bucket; }
    ForBucket(const ForBucket&) = delete;
    ForBucket& operator=(const ForBucket&) = delete;

   private:
    Timeline& timeline_;
  };

  /// Records a span from its construction to its destruction; one inside another belongs to the outer one.
  class Scope {
   public:
    Scope(Timeline& timeline, Activity activity, const char* name, std::int64_t bytes = 0,
          const SpannedCall& call = {});
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Timeline& timeline_;
    Span span_;
  };

 private:
  void begin(Span& span);
  void end(const Span& span);

  std::function<double()> clock_;
  bool keep_spans_;
  std::array<std::atomic<double>, activity_count> busy_{};
  std::vector<Span> spans_;
  std::int32_t calls_ = 0;
  int depth_ = 0;               ///< scopes that are open on this lane
  const char* outermost_ = "";  ///< the name of the first of them
  static constexpr int no_bucket = -1;
  int bucket_ = no_bucket;
  RunPlace place_;
  std::unique_ptr<Marks> marks_;
  std::deque<Span> unsettled_;             ///< ended for the host, their marks still to be taken
  std::optional<double> unsettled_since_;  ///< the begin of the first of them, where it has passed
};

}  // namespace trigram
