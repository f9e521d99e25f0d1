// The k elements of largest magnitude of each chunk of c, so that no part of a vector is left out; the lower place
// first where magnitudes are equal, all NaN alike and above. A short last chunk keeps all that it has up to k.
//   ‖x − x̂‖² = the sum of the smallest squares of each chunk ≤ (1 − k/c)‖x‖²
// Frame: chunk by chunk, in rising order of places, the values as f32; then their places in their chunks, in a byte for
// c ≤ 256, else in two: 5 or 6 bytes an element that is kept, of an empty vector none. With marks=on the same frame
// decodes to 1 where an element was kept: added up, marks say of each place how many kept it. (Peng et al.,
// arXiv:2411.19870.)
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "core/device/codec.hpp"
#include "core/values/error.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// Where a frame has what.
struct ChunkTopKLayout {
  std::int64_t chunk, k;

  /// Elements of a chunk of a vector of `count`.
  TRIGRAM_RULE std::int64_t size(std::int64_t count, std::int64_t which) const {
    const std::int64_t rest = count - which * chunk;
    return rest < chunk ? rest : chunk;
  }
  TRIGRAM_RULE std::int64_t chunks(std::int64_t count) const { return (count + chunk - 1) / chunk; }
  TRIGRAM_RULE std::int64_t kept_of(std::int64_t size) const { return size < k ? size : k; }
  /// Of a whole vector.
  TRIGRAM_RULE std::int64_t kept(std::int64_t count) const { return count / chunk * k + kept_of(count % chunk); }
  /// Bytes of a place.
  TRIGRAM_RULE std::int64_t width() const { return chunk <= 256 ? 1 : 2; }
};

/// Parameters and sizes of the frame.
class ChunkTopKModel : public Codec {
 public:
  explicit ChunkTopKModel(Params& params)
      : layout_{params.get("chunk", std::int64_t{64}, "elements of a chunk", {1, 1 << 16}),
                params.get("k", std::int64_t{8}, "elements that are kept of a chunk", {1, 1 << 16})},
        marks_(params.get("marks", false, "decode 1 where an element was kept, for who counts them")) {
    require(layout_.k <= layout_.chunk, params.owner(), ": k=", layout_.k, " is more than a chunk of ", layout_.chunk,
            " has");
  }
  static Description description() {
    return {"the k elements of largest magnitude of each chunk",
            "Peng et al., DeMo: decoupled momentum optimization, 2024, arXiv:2411.19870"};
  }

  std::int64_t encoded_bytes(std::int64_t count) const override { return (4 + layout_.width()) * layout_.kept(count); }
  CodecProperties properties(std::int64_t count) const override {
    if (marks_) return {.bound = std::numeric_limits<double>::infinity()};
    const std::int64_t size = std::min(count, layout_.chunk);
    const double share = size == 0 ? 1.0 : static_cast<double>(layout_.kept_of(size)) / static_cast<double>(size);
    return {.contraction = true, .bound = 1.0 - share};
  }
  /// Encoding reads chunks once; decoding writes zeros, then 32 bytes around each value.
  CodecTraffic traffic(std::int64_t count) const override {
    const std::int64_t scattered = std::min(4 * count, 32 * layout_.kept(count));
    return {static_cast<double>(4 * count + encoded_bytes(count)),
            static_cast<double>(encoded_bytes(count) + 4 * count + scattered),
            static_cast<double>(encoded_bytes(count) + 2 * scattered)};
  }

 protected:
  const ChunkTopKLayout& layout() const { return layout_; }
  bool marks() const { return marks_; }

 private:
  ChunkTopKLayout layout_;
  bool marks_;
};

}  // namespace trigram
