// For CPUs, what the codecs of wrong_kernels.cu do where they are right.
#include "kernels/codecs/elements.hpp"
#include "kernels/cpu/codecs/codec.hpp"

namespace trigram {
namespace {

/// 0.7 x + 0.3, product and sum rounded each.
class RoundedTwice final : public CpuCodec<RoundedTwice, ElementsModel<float>> {
 public:
  using CpuCodec::CpuCodec;

  void encode_values(Instructions, const float* values, std::uint8_t* frame, std::int64_t count, const Key&) const {
    for (std::int64_t i = 0; i < count; ++i) {
      const float sum = 0.7F * values[i] + 0.3F;
      put(frame + 4 * i, scalar::with_one_nan(sum));
    }
  }
  template <class Sink>
  void decode_values(Instructions, const std::uint8_t* frame, float* values, std::int64_t count, const Key&,
                     const Sink& sink) const {
    for (std::int64_t i = 0; i < count; ++i) sink(load<float>(frame + 4 * i), values[i]);
  }
};

struct Twins {
  Twins() {
    for (const char* const name :
         {"right", "wrong_bound", "store_beyond", "misaligned", "no_barrier", "some_at_barrier", "read_unwritten",
          "last_unwritten", "two_writers", "own_stream", "forgotten_memory", "wrong_promise"})
      Codecs::Composition(std::string("cpu/") + name, "cpu/upper_half", {"upper halves"});
    for (const char* const name : {"rounded_twice", "contracted"}) {
      Codecs::Registration(std::string("cpu/") + name, {"0.7 x + 0.3"},
                           [](Params&) { return std::make_unique<RoundedTwice>(CodecProperties{}); });
    }
  }
};
const Twins twins;

}  // namespace
}  // namespace trigram
