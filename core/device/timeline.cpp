#include "core/device/timeline.hpp"

#include <utility>

namespace trigram {

const char* name_of(Activity activity) {
  constexpr std::array<const char*, activity_count> names{"compute", "encode", "wire", "decode", "wait"};
  return names.at(static_cast<std::size_t>(activity));
}

void Timeline::add(const Span& span) {
  std::atomic<double>& busy = busy_[static_cast<std::size_t>(span.activity)];
  busy.store(busy.load(std::memory_order_relaxed) + (span.end - span.begin), std::memory_order_relaxed);
  if (keep_spans_) spans_.push_back(span);
}

void Timeline::settle(bool wait) {
  while (!unsettled_.empty()) {
    if (!unsettled_since_) unsettled_since_ = marks_->take(wait);
    if (!unsettled_since_) return;
    const std::optional<double> end = marks_->take(wait);
    if (!end) return;
    Span span = unsettled_.front();
    span.begin = *std::exchange(unsettled_since_, std::nullopt);
    span.end = *end;
    unsettled_.pop_front();
    add(span);
  }
}

std::string Timeline::doing() const {
  const std::string operation = depth_ > 0 ? outermost_ : "";
  if (bucket_ == no_bucket) return operation;
  return (operation.empty() ? "work" : operation) + " of bucket " + std::to_string(bucket_);
}

std::string Timeline::where() const {
  std::string text;
  if (place_.rank >= 0) text = "rank " + std::to_string(place_.rank) + ", ";
  if (place_.step >= 0) text += "step " + std::to_string(place_.step) + ", ";
  if (place_.rank >= 0) text += place_.layout.name_of(place_.lane);
  const std::string what = doing();
  return text + (text.empty() || what.empty() ? "" : ", ") + what;
}

void Timeline::begin(Span& span) {
  if (depth_++ > 0) return;
  outermost_ = span.name;
  if (marks_ != nullptr) {
    marks_->set();
  } else {
    span.begin = now();
  }
}

void Timeline::end(const Span& span) {
  if (--depth_ > 0) return;
  if (marks_ == nullptr) {
    Span ended = span;
    ended.end = now();
    return add(ended);
  }
  marks_->set();
  unsettled_.push_back(span);
  settle();
}

Timeline::Scope::Scope(Timeline& timeline, Activity activity, const char* name, std::int64_t bytes,
                       const SpannedCall& call)
    : timeline_(timeline), span_{activity, name, 0, 0, bytes, call} {
  timeline_.begin(span_);
}

Timeline::Scope::~Scope() { timeline_.end(span_); }

}  // namespace trigram
