// A shaper of what leaves a NIC.
#pragma once

#include <algorithm>

namespace trigram {

/// A bucket of tokens, of which each byte takes one and which fills at the NIC's bandwidth. Bytes that find tokens
/// leave at line rate. Links carry what remains: a message of M bytes that has c of its tokens there takes (M − c) /
/// bandwidth, and as c ≤ M · (1 − bandwidth / line rate), never less than M / line rate.
class TokenBucket {
 public:
  struct Shape {
    double burst = 0;      ///< tokens of a full bucket
    double bandwidth = 0;  ///< bytes per second
    double line_rate = 0;
  };
  /// A full one.
  explicit TokenBucket(const Shape& shape) : TokenBucket(shape, shape.burst) {}
  TokenBucket(const Shape& shape, double tokens) : shape_(shape), tokens_(tokens) {}

  /// Fills the bucket with the time in which what it has let through is gone.
  void wait_until(double now);
  /// The tokens that so many bytes find, and take. They leave in parts, with `gaps` of `gap` seconds between them that
  /// bring tokens as well.
  double take(double bytes, int gaps, double gap);

 private:
  Shape shape_;
  double tokens_;
  double carrying_ = 0;  ///< bytes that links still have to carry
  double last_ = 0;      ///< seconds
};

inline void TokenBucket::wait_until(double now) {
  const double brought = shape_.bandwidth * (now - last_);
  tokens_ = std::min(shape_.burst, tokens_ + std::max(0.0, brought - carrying_));
  carrying_ = std::max(0.0, carrying_ - brought);
  last_ = now;
}

inline double TokenBucket::take(double bytes, int gaps, double gap) {
  const double in_gaps = gaps * std::min(shape_.burst, gap * shape_.bandwidth);
  const double there = tokens_ + in_gaps;
  const double taken = std::min(there, bytes * (1 - shape_.bandwidth / shape_.line_rate));
  tokens_ = std::min(shape_.burst, there - taken);
  carrying_ += bytes - taken + gaps * gap * shape_.bandwidth;
  return taken;
}

}  // namespace trigram
