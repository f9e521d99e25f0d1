// Spans of lanes whose work runs later than it is ordered.
#include "core/device/timeline.hpp"

#include <gtest/gtest.h>

namespace trigram {
namespace {

/// Marks that pass when the test says so.
class ScriptedMarks final : public Marks {
 public:
  explicit ScriptedMarks(std::deque<double>& passed) : passed_(passed) {}
  void set() noexcept override { ++set_; }
  std::optional<double> take(bool wait) noexcept override {
    if (wait && passed_.empty()) passed_.push_back(99);
    if (passed_.empty()) return std::nullopt;
    const double time = passed_.front();
    passed_.pop_front();
    return time;
  }

 private:
  std::deque<double>& passed_;
  int set_ = 0;
};

struct MarkedTimeline {
  MarkedTimeline() { timeline.use_marks(std::make_unique<ScriptedMarks>(passed)); }
  std::deque<double> passed;
  Timeline timeline{[] { return -1.0; }, true};
};

TEST(Timeline, CountsMarkedSpansOnceTheirWorkIsDone) {
  MarkedTimeline marked;
  {
    const Timeline::Scope wire(marked.timeline, Activity::wire, "all_reduce", 12);
    const Timeline::Scope inner(marked.timeline, Activity::encode, "belongs to the outer one");
  }
  { const Timeline::Scope decode(marked.timeline, Activity::decode, "decode"); }
  marked.timeline.settle();
  EXPECT_EQ(marked.timeline.busy(Activity::wire), 0);
  marked.passed = {2.0};  // the first has begun
  marked.timeline.settle();
  EXPECT_EQ(marked.timeline.busy(Activity::wire), 0);
  marked.passed = {3.5, 4.0};  // it has ended, the second has begun
  marked.timeline.settle();
  EXPECT_EQ(marked.timeline.busy(Activity::wire), 1.5);
  EXPECT_EQ(marked.timeline.busy(Activity::encode), 0);
  EXPECT_EQ(marked.timeline.busy(Activity::decode), 0);
  marked.passed = {6.0};
  marked.timeline.settle(true);
  ASSERT_EQ(marked.timeline.spans().size(), 2u);
  EXPECT_EQ(marked.timeline.spans()[0].begin, 2.0);
  EXPECT_EQ(marked.timeline.spans()[0].bytes, 12);
  EXPECT_EQ(marked.timeline.spans()[1].end, 6.0);
}

TEST(Timeline, WaitsForMarksWhenAsked) {
  MarkedTimeline marked;
  { const Timeline::Scope wire(marked.timeline, Activity::wire, "exchange"); }
  marked.passed = {90.0};
  marked.timeline.settle(true);
  EXPECT_EQ(marked.timeline.busy(Activity::wire), 9.0);
}

TEST(Timeline, WithoutMarksASpanCountsAsSoonAsItEnds) {
  double now = 1;
  Timeline timeline([&now] { return now; }, true);
  {
    const Timeline::Scope compute(timeline, Activity::compute, "forward");
    now = 3;
  }
  EXPECT_EQ(timeline.busy(Activity::compute), 2.0);
  EXPECT_EQ(timeline.spans().size(), 1u);
}

TEST(Timeline, SaysWhatTheLaneIsDoing) {
  Timeline timeline([] { return 0.0; }, false);
  EXPECT_EQ(timeline.doing(), "");
  const Timeline::ForBucket second(timeline, 2);
  EXPECT_EQ(timeline.doing(), "work of bucket 2");
  {
    const Timeline::Scope outer(timeline, Activity::wire, "all_reduce");
    const Timeline::Scope inner(timeline, Activity::wire, "exchange");
    EXPECT_EQ(timeline.doing(), "all_reduce of bucket 2");
  }
  EXPECT_EQ(timeline.doing(), "work of bucket 2");
}

TEST(Timeline, SaysWhereTheLaneIs) {
  Timeline timeline([] { return 0.0; }, false);
  EXPECT_EQ(timeline.where(), "");
  timeline.be_at({3, 0, {2}, -1});
  EXPECT_EQ(timeline.where(), "rank 3, main lane");
  timeline.be_at({3, 1, {2}, 5});
  EXPECT_EQ(timeline.where(), "rank 3, step 5, lane 1 (buckets 0, 2, ...)");
  const Timeline::ForBucket second(timeline, 2);
  EXPECT_EQ(timeline.where(), "rank 3, step 5, lane 1 (buckets 0, 2, ...), work of bucket 2");
}

}  // namespace
}  // namespace trigram
