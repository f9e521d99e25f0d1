// chunk_top_k on host memory.
#include "kernels/codecs/chunk_top_k.hpp"

#include <functional>
#include <vector>

#include "kernels/cpu/codecs/codec.hpp"

namespace trigram {
namespace {

/// A number that is larger for what is kept sooner: of larger magnitude, or as large and at a lower place.
TRIGRAM_RULE std::uint64_t claim(float value, std::int64_t place) {
  return std::uint64_t{scalar::ordered_magnitude(value)} << 32U | (0xffffffffU - static_cast<std::uint32_t>(place));
}
TRIGRAM_RULE std::uint32_t claimed_place(std::uint64_t claim) {
  return 0xffffffffU - static_cast<std::uint32_t>(claim);
}

class ChunkTopK final : public CpuCodec<ChunkTopK, ChunkTopKModel> {
 public:
  using CpuCodec::CpuCodec;

  void encode_values(Instructions, const float* values, std::uint8_t* frame, std::int64_t count, const Key&) const {
    std::uint8_t* const places = frame + 4 * layout().kept(count);
    std::vector<std::uint64_t> claims;
    for (std::int64_t chunk = 0; chunk < layout().chunks(count); ++chunk) {
      const float* const own = values + chunk * layout().chunk;
      choose(own, layout().size(count, chunk), claims);
      std::int64_t next = chunk * layout().k;
      for (const std::uint64_t one : claims) {
        const std::uint32_t place = claimed_place(one);
        put(frame + 4 * next, scalar::with_one_nan(own[place]));
        put_place(places, next++, place);
      }
    }
  }

  template <class Sink>
  void decode_values(Instructions, const std::uint8_t* frame, float* values, std::int64_t count, const Key&,
                     const Sink& sink) const {
    const std::int64_t kept = layout().kept(count);
    if constexpr (std::is_same_v<Sink, Overwrite>) std::fill_n(values, count, 0.0F);
    for (std::int64_t next = 0; next < kept; ++next) {
      const std::int64_t chunk = next / layout().k, place = load_place(frame + 4 * kept, next);
      ensure(place < layout().size(count, chunk), "chunk_top_k: a frame names element ", place, " of a chunk of ",
             layout().size(count, chunk), "; it is no frame of this codec");
      sink(marks() ? 1.0F : load<float>(frame + 4 * next), values[chunk * layout().chunk + place]);
    }
  }

 private:
  /// The claims of a chunk's elements that are kept, by their places.
  void choose(const float* values, std::int64_t size, std::vector<std::uint64_t>& claims) const {
    claims.resize(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i) claims[static_cast<std::size_t>(i)] = claim(values[i], i);
    const auto end = claims.begin() + layout().kept_of(size);
    if (end != claims.end()) std::nth_element(claims.begin(), end, claims.end(), std::greater<>());
    claims.erase(end, claims.end());
    std::ranges::sort(claims, {}, claimed_place);
  }

  void put_place(std::uint8_t* places, std::int64_t next, std::uint32_t place) const {
    layout().width() == 1 ? put(places + next, static_cast<std::uint8_t>(place))
                          : put(places + 2 * next, static_cast<std::uint16_t>(place));
  }
  std::int64_t load_place(const std::uint8_t* places, std::int64_t next) const {
    return layout().width() == 1 ? places[next] : load<std::uint16_t>(places + 2 * next);
  }
};

const Codecs::Registration registration("cpu/chunk_top_k", ChunkTopKModel::description(),
                                        [](Params& params) { return std::make_unique<ChunkTopK>(params); });

}  // namespace
}  // namespace trigram
