// How much may wait in the kernel for a path before it is sent: what waits on a slow one cannot go by another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/clock.hpp"

namespace trigram::net {

/// What a path carries until a caller comes again, so that it does not run dry before, and no more.
class UnsentLimit {
 public:
  /// At least so many bytes, which is what a path begins with.
  explicit UnsentLimit(std::size_t least) : least_(least), bytes_(least) {}

  std::size_t bytes() const { return bytes_; }

  /// The path carried `carried` bytes in `time`, while it had more to carry; callers come again after at most `gap`.
  /// True if another number of bytes may wait from now on; small changes are none.
  bool learn(std::uint64_t carried, Clock::duration time, Clock::duration gap) {
    const double until_next = static_cast<double>(carried) * (std::chrono::duration<double>(gap) / time);
    const std::size_t most = std::max(least_, largest);
    const auto wanted = std::clamp(static_cast<std::size_t>(until_next), least_, most);
    if (wanted <= bytes_ + bytes_ / 4 && wanted >= bytes_ / 2) return false;
    bytes_ = wanted;
    return true;
  }

 private:
  static constexpr std::size_t largest = 4 << 20;

  std::size_t least_;
  std::size_t bytes_;
};

}  // namespace trigram::net
