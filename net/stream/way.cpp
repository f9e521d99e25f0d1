#include "net/stream/way.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace trigram::net {

// What is on its way waits for nothing: a way that is full has its rate times a round trip there.
double Way::done(double bytes) const { return latency + (std::max(0.0, waiting - 2 * latency * rate) + bytes) / rate; }

// Several ways share bytes, but no chunk: however fast they are together, none is done before one of them is.
bool leaves(std::span<const Way> ways, std::size_t own, double length, double queued) {
  if (ways[own].rate <= 0) return false;
  double rate = 0, bytes = queued, soonest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (i == own || ways[i].rate <= 0) continue;
    rate += ways[i].rate;
    bytes += ways[i].done(0) * ways[i].rate;
    soonest = std::min(soonest, ways[i].done(length));
  }
  return rate > 0 && std::max(soonest, bytes / rate) < ways[own].done(length);
}

std::uint32_t chunk_over(std::uint64_t size, double fastest, std::uint32_t most) {
  constexpr std::uint64_t parts = 32, smallest = 8 << 10;
  if (fastest <= 0) return most;
  const auto worth = static_cast<std::uint64_t>(std::min(fastest * least_seconds, static_cast<double>(most)));
  const std::uint64_t least = std::max(smallest, std::bit_ceil(worth));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, std::max(least, std::bit_floor(size / parts))));
}

}  // namespace trigram::net
