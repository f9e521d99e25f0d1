// The k elements of largest magnitude; the lower index first where magnitudes are equal, all NaN alike and above.
//   ‖x − x̂‖² = the sum of the d − k smallest squares ≤ (1 − k/d)‖x‖²
// Frame: k indices as i32 in rising order, then k values as f32: 8k bytes. (Stich et al., NeurIPS 2018,
// arXiv:1809.07599.)
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "core/device/codec.hpp"
#include "kernels/codecs/kept_count.hpp"

namespace trigram {

/// Parameters and sizes of the frame.
class TopKModel : public Codec {
 public:
  explicit TopKModel(Params& params) : kept_(params) {}
  static Description description() {
    return {"the k elements of largest magnitude",
            "Stich et al., Sparsified SGD with memory, NeurIPS 2018, arXiv:1809.07599"};
  }

  std::int64_t encoded_bytes(std::int64_t count) const override { return 8 * kept(count); }
  CodecProperties properties(std::int64_t count) const override {
    const auto share = count == 0 ? 1.0 : static_cast<double>(kept(count)) / static_cast<double>(count);
    return {.contraction = true, .bound = 1.0 - share};
  }
  /// Encoding reads once to select and once to collect; decoding writes zeros, then 32 bytes around each value.
  CodecTraffic traffic(std::int64_t count) const override {
    const std::int64_t scattered = std::min(4 * count, 32 * kept(count));
    return {static_cast<double>(8 * count + encoded_bytes(count)),
            static_cast<double>(encoded_bytes(count) + 4 * count + scattered),
            static_cast<double>(encoded_bytes(count) + 2 * scattered)};
  }

 protected:
  std::int64_t kept(std::int64_t count) const { return kept_.of(count); }
  static void ensure_indices_fit(std::int64_t count) {
    ensure(count <= std::numeric_limits<std::int32_t>::max(),
           "top_k: " + std::to_string(count) + " elements are more than i32 indices can name");
  }

 private:
  KeptCount kept_;
};

}  // namespace trigram
