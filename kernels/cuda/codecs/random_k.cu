// random_k on device memory: a thread a kept value.
#include "kernels/codecs/random_k.hpp"
#include "kernels/cuda/codecs/kept.hpp"

namespace trigram {
namespace cuda {
namespace {

struct Gather {
  static constexpr int width = 1;
  const float* values;
  std::uint8_t* frame;
  RandomSelection selection;
  float factor;

  template <int N>
  struct Held {
    float value;
  };
  __device__ void load(std::int64_t j, Held<1>& held) const { held.value = values[selection(j)]; }
  __device__ void finish(std::int64_t j, Held<1>& held) const {
    put(frame + 4 * j, scalar::with_one_nan(factor * held.value));
  }
};

template <class Sink>
struct Scatter {
  static constexpr int width = 1;
  const std::uint8_t* frame;
  float* values;
  RandomSelection selection;
  Sink sink;

  template <int N>
  struct Held {
    std::int64_t index;
    float value;
    float before;
  };
  __device__ void load(std::int64_t j, Held<1>& held) const {
    held.index = selection(j);
    held.value = cuda::load<float>(frame + 4 * j);
    if constexpr (Sink::reads) held.before = values[held.index];
  }
  __device__ void finish(std::int64_t, Held<1>& held) const { values[held.index] = sink.of(held.value, held.before); }
};

class RandomK final : public CudaCodec<RandomK, RandomKModel> {
 public:
  using CudaCodec::CudaCodec;

  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    over_kept("encode", kernels, all, [this](const KeptFrame& one) {
      return Gather{one.whole.values, one.whole.frame, selection(one), factor(one.whole.count)};
    });
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    begin_decoding(kernels, all, sink);
    over_kept("decode", kernels, all, [&](const KeptFrame& one) {
      return Scatter<Sink>{one.whole.frame, one.whole.values, selection(one), sink};
    });
  }

 private:
  static RandomSelection selection(const KeptFrame& one) {
    return RandomSelection(one.whole.key, one.whole.count, one.count);
  }
  template <class Make>
  void over_kept(const char* operation, const CudaKernels& kernels, VectorFrames all, const Make& make) const {
    const std::vector<KeptFrame> frames = kept_frames(all, [this](std::int64_t count) { return kept(count); });
    run_over_parts(operation, kernels, std::span<const KeptFrame>(frames), false, make);
  }
};

}  // namespace
}  // namespace cuda

namespace {

const Codecs::Registration registration("cuda/random_k", RandomKModel::description(),
                                        [](Params& params) { return std::make_unique<cuda::RandomK>(params); });

}  // namespace
}  // namespace trigram
