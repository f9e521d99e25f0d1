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

}  // namespace trigram
