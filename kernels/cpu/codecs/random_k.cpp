// random_k on host memory.
#include "kernels/codecs/random_k.hpp"

#include <algorithm>

#include "kernels/cpu/codecs/codec.hpp"

namespace trigram {
namespace {

class RandomK final : public CpuCodec<RandomK, RandomKModel> {
 public:
  using CpuCodec::CpuCodec;

  void encode_values(Instructions, const float* values, std::uint8_t* frame, std::int64_t count, const Key& key) const {
    const std::int64_t k = kept(count);
    const RandomSelection selection(key, count, k);
    const float scale = factor(count);
    for (std::int64_t j = 0; j < k; ++j) put(frame + 4 * j, scalar::with_one_nan(scale * values[selection(j)]));
  }

  template <class Sink>
  void decode_values(Instructions, const std::uint8_t* frame, float* values, std::int64_t count, const Key& key,
                     const Sink& sink) const {
    const std::int64_t k = kept(count);
    const RandomSelection selection(key, count, k);
    if constexpr (std::is_same_v<Sink, Overwrite>) std::fill_n(values, count, 0.0F);
    for (std::int64_t j = 0; j < k; ++j) sink(load<float>(frame + 4 * j), values[selection(j)]);
  }
};

const Codecs::Registration registration("cpu/random_k", RandomKModel::description(),
                                        [](Params& params) { return std::make_unique<RandomK>(params); });

}  // namespace
}  // namespace trigram
