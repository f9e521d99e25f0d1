// Values modulo twice θ, on host memory.
#include "kernels/codecs/modulo.hpp"

#include "kernels/cpu/codecs/codec.hpp"

namespace trigram {
namespace {

class Modulo final : public CpuCodec<Modulo, ModuloModel> {
 public:
  using CpuCodec::CpuCodec;

  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    vectorised(instructions, [=, grid = grid()]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) frame[i] = static_cast<std::uint8_t>(grid.residue(values[i]));
    });
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    vectorised(instructions, [=, grid = grid()]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) sink(grid.value(static_cast<std::int8_t>(frame[i])), values[i]);
    });
  }
};

const Codecs::Registration registration("cpu/modulo", Modulo::description(),
                                        [](Params& params) { return std::make_unique<Modulo>(params); });

}  // namespace
}  // namespace trigram
