// Paths between two hosts over which a message goes in chunks.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace trigram {

/// Paths of unequal rate. Each chunk of a message, in order, goes as a whole to the path that is sooner done with it
/// and what the path has before it, so that a short message may leave slow paths idle.
class ChunkedPaths {
 public:
  /// Bytes per second of each path, and bytes of a chunk; 0: a message is divided as rates are.
  ChunkedPaths(std::vector<double> rates, double chunk)
      : rates_(std::move(rates)), rate_(std::accumulate(rates_.begin(), rates_.end(), 0.0)), chunk_(chunk) {}
  /// One that divides nothing.
  ChunkedPaths() : ChunkedPaths({1}, 0) {}

  /// Whether a message may need more time than all of its bytes do on all paths together.
  bool limit() const { return chunk_ > 0; }
  /// Seconds until so many bytes are through that find all paths idle.
  double seconds(double bytes) const;
  /// What all paths could carry in the time that so many bytes take.
  double occupied(double bytes) const { return limit() ? seconds(bytes) * rate_ : bytes; }

 private:
  std::vector<double> rates_;
  double rate_;  ///< of all
  double chunk_;
};

// Of m chunks, those that paths end by the time t = (m − k) · chunk / rate, for k paths, are the first in this order,
// and less than 2 k are left to give one by one. The last chunk, which may be shorter, goes where it is sooner done.
inline double ChunkedPaths::seconds(double bytes) const {
  if (!limit()) return bytes / rate_;
  const double whole = std::max(0.0, std::ceil(bytes / chunk_) - 1), rest = bytes - whole * chunk_;
  const double first = std::max(0.0, whole - static_cast<double>(rates_.size()));
  std::vector<double> chunks;  // by path
  for (const double rate : rates_) chunks.push_back(std::floor(first * rate / rate_));
  const auto sooner_done = [&](double length) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t path = 0; path < rates_.size(); ++path) {
      const double done = (chunks[path] * chunk_ + length) / rates_[path];
      if (done < least) least = done, best = path;
    }
    return std::pair(best, least);
  };
  for (double left = whole - std::accumulate(chunks.begin(), chunks.end(), 0.0); left > 0; --left)
    ++chunks[sooner_done(chunk_).first];
  double last = sooner_done(rest).second;
  for (std::size_t path = 0; path < rates_.size(); ++path) last = std::max(last, chunks[path] * chunk_ / rates_[path]);
  return last;
}

}  // namespace trigram
