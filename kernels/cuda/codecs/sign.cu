// sign on device memory.
#include "kernels/codecs/sign.hpp"
#include "kernels/cuda/codecs/sign_bits.hpp"

namespace trigram::cuda {
namespace {

class Sign final : public CudaCodec<Sign, SignModel> {
 public:
  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    write_sign_bits<BelowZero>(kernels, all, [](const VectorFrame& one) { return one.frame; });
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_groups(kernels, all, sink, true, [](const VectorFrame& one) {
      return TwoValuesFrame{{one.frame}, 1.0F, -1.0F};
    });
  }
};

const Codecs::Registration registration("cuda/sign", Sign::description(),
                                        [](Params&) { return std::make_unique<Sign>(); });

}  // namespace
}  // namespace trigram::cuda
