#include "core/timeline.hpp"

namespace trigram {

const char* name_of(Activity activity) {
  constexpr std::array<const char*, activity_count> names{"compute", "encode", "wire", "decode", "wait"};
  return names.at(static_cast<std::size_t>(activity));
}

void Timeline::add(const Span& span) {
  busy_[static_cast<std::size_t>(span.activity)].fetch_add(span.end - span.begin, std::memory_order_relaxed);
  if (keep_spans_) spans_.push_back(span);
}

Timeline::Scope::Scope(Timeline& timeline, Activity activity, const char* name, std::int64_t bytes)
    : timeline_(timeline), span_{activity, name, timeline.now(), 0, bytes} {
  ++timeline_.depth_;
}

Timeline::Scope::~Scope() {
  if (--timeline_.depth_ > 0) return;
  span_.end = timeline_.now();
  timeline_.add(span_);
}

}  // namespace trigram
