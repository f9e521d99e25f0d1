// Codecs for GPUs that are wrong in one thing each, as people who write their first kernel make them; and right ones,
// which they are compared with.
#include "kernels/cuda/codecs/element_codec.hpp"

namespace trigram::cuda {
namespace {

using Kernel = void (*)(const float* values, std::uint8_t* frame, std::int64_t count);

__device__ std::int64_t element() { return static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; }

__device__ std::uint16_t upper(float x) {
  return static_cast<std::uint16_t>(scalar::bits_of(scalar::with_one_nan(x)) >> 16U);
}

__global__ void right(const float* values, std::uint8_t* frame, std::int64_t count) {
  const std::int64_t i = element();
  if (i < count) put(frame + 2 * i, upper(values[i]));
}

/// One element too many.
__global__ void wrong_bound(const float* values, std::uint8_t* frame, std::int64_t count) {
  const std::int64_t i = element();
  if (i <= count) put(frame + 2 * i, upper(values[i]));
}

/// Four bytes where an element has two.
__global__ void store_beyond(const float* values, std::uint8_t* frame, std::int64_t count) {
  const std::int64_t i = element();
  if (i < count) put(frame + 2 * i, std::uint32_t{upper(values[i])});
}

/// Frames may lie at any address.
__global__ void misaligned(const float* values, std::uint8_t* frame, std::int64_t count) {
  const std::int64_t i = element();
  if (i < count) reinterpret_cast<std::uint16_t*>(frame)[i] = upper(values[i]);
}

/// Turns a block's elements around in shared memory, and nobody waits for who wrote them.
__global__ void no_barrier(const float* values, std::uint8_t* frame, std::int64_t count) {
  __shared__ float turned[block_threads];
  const std::int64_t i = element(), begin = i - threadIdx.x;
  const auto last = static_cast<unsigned>(min(count - begin, std::int64_t{block_threads})) - 1;
  if (i < count) turned[last - threadIdx.x] = values[i];
  if (i < count) put(frame + 2 * (begin + last - threadIdx.x), upper(turned[threadIdx.x]));
}

/// The same with a barrier that threads beyond the last element never reach.
__global__ void some_at_barrier(const float* values, std::uint8_t* frame, std::int64_t count) {
  __shared__ float turned[block_threads];
  const std::int64_t i = element(), begin = i - threadIdx.x;
  const auto last = static_cast<unsigned>(min(count - begin, std::int64_t{block_threads})) - 1;
  if (i >= count) return;
  turned[last - threadIdx.x] = values[i];
  __syncthreads();
  put(frame + 2 * (begin + last - threadIdx.x), upper(turned[threadIdx.x]));
}

/// Turns a whole block around though it has fewer elements: takes what nobody wrote.
__global__ void read_unwritten(const float* values, std::uint8_t* frame, std::int64_t count) {
  __shared__ float turned[block_threads];
  const std::int64_t i = element();
  if (i < count) turned[threadIdx.x] = values[i];
  __syncthreads();
  if (i < count) put(frame + 2 * i, upper(turned[block_threads - 1 - threadIdx.x]));
}

/// One element too few.
__global__ void last_unwritten(const float* values, std::uint8_t* frame, std::int64_t count) {
  const std::int64_t i = element();
  if (i + 1 < count) put(frame + 2 * i, upper(values[i]));
}

/// Each thread writes its element, and that of the thread before it.
__global__ void two_writers(const float* values, std::uint8_t* frame, std::int64_t count) {
  const std::int64_t i = element();
  if (i < count) put(frame + 2 * i, upper(values[i]));
  if (i > 0 && i < count) put(frame + 2 * (i - 1), upper(values[i]));
}

/// 0.7 x + 0.3 rounded twice.
__global__ void rounded_twice(const float* values, std::uint8_t* frame, std::int64_t count) {
  const std::int64_t i = element();
  if (i < count) put(frame + 4 * i, scalar::with_one_nan(0.7F * values[i] + 0.3F));
}

/// And once, by a fused multiply-add.
__global__ void contracted(const float* values, std::uint8_t* frame, std::int64_t count) {
  const std::int64_t i = element();
  if (i < count) put(frame + 4 * i, scalar::with_one_nan(__fmaf_rn(0.7F, values[i], 0.3F)));
}

struct UpperHalfRule {
  using Element = std::uint16_t;
  __device__ __forceinline__ float value(Element kept) const { return scalar::from_bits(std::uint32_t{kept} << 16U); }
};
struct WholeRule {
  using Element = float;
  __device__ __forceinline__ float value(Element kept) const { return kept; }
};

/// Encodes by a kernel whose threads have an element each.
template <class Rule>
class ByKernel final : public CudaCodec<ByKernel<Rule>, ElementsModel<typename Rule::Element>> {
  using Base = CudaCodec<ByKernel<Rule>, ElementsModel<typename Rule::Element>>;

 public:
  ByKernel(Kernel kernel, CodecProperties properties) : Base(properties), kernel_(kernel) {}

  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    for (const VectorFrame& one : all) {
      // A thread more than there are elements, where these fill their blocks.
      launch("encode", kernels, kernel_, one.count / block_threads + 1, block_threads, one.values, one.frame,
             one.count);
    }
  }
  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_elements(kernels, all, sink, Rule{});
  }

 private:
  Kernel kernel_;
};

/// What the host does beside a right launch.
enum class Beside : std::uint8_t { takes_a_stream_of_its_own, forgets_memory };

class WrongHost final : public CudaCodec<WrongHost, ElementsModel<std::uint16_t>> {
 public:
  explicit WrongHost(Beside beside)
      : CudaCodec(CodecProperties{.contraction = true, .bound = 0x1p-14}), beside_(beside) {}

  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    cudaStream_t own = nullptr;
    void* forgotten = nullptr;
    if (beside_ == Beside::takes_a_stream_of_its_own) check(cudaStreamCreate(&own), "cudaStreamCreate");
    if (beside_ == Beside::forgets_memory) check(cudaMalloc(&forgotten, 48), "cudaMalloc");
    for (const VectorFrame& one : all) {
      right<<<one.count / block_threads + 1, block_threads, 0, own == nullptr ? kernels.stream() : own>>>(
          one.values, one.frame, one.count);
    }
    if (own != nullptr) check(cudaStreamDestroy(own), "cudaStreamDestroy");
  }
  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_elements(kernels, all, sink, UpperHalfRule{});
  }

 private:
  Beside beside_;
};

struct Registrations {
  Registrations() {
    for (const auto& [name, kernel] : {std::pair<const char*, Kernel>("right", right),
                                       {"wrong_bound", wrong_bound},
                                       {"store_beyond", store_beyond},
                                       {"misaligned", misaligned},
                                       {"no_barrier", no_barrier},
                                       {"some_at_barrier", some_at_barrier},
                                       {"read_unwritten", read_unwritten},
                                       {"last_unwritten", last_unwritten},
                                       {"two_writers", two_writers}}) {
      Codecs::Registration(std::string("cuda/") + name, {"upper halves"}, [kernel = kernel](Params&) {
        return std::make_unique<ByKernel<UpperHalfRule>>(kernel,
                                                         CodecProperties{.contraction = true, .bound = 0x1p-14});
      });
    }
    for (const auto& [name, kernel] :
         {std::pair<const char*, Kernel>("rounded_twice", rounded_twice), {"contracted", contracted}}) {
      Codecs::Registration(std::string("cuda/") + name, {"0.7 x + 0.3"}, [kernel = kernel](Params&) {
        return std::make_unique<ByKernel<WholeRule>>(kernel, CodecProperties{});
      });
    }
    for (const auto& [name, beside] : {std::pair<const char*, Beside>("own_stream", Beside::takes_a_stream_of_its_own),
                                       {"forgotten_memory", Beside::forgets_memory}}) {
      Codecs::Registration(std::string("cuda/") + name, {"upper halves"},
                           [beside = beside](Params&) { return std::make_unique<WrongHost>(beside); });
    }
    Codecs::Registration("cuda/wrong_promise", {"upper halves"}, [](Params&) {
      return std::make_unique<ByKernel<UpperHalfRule>>(right, CodecProperties{.contraction = true, .bound = 0x1p-20});
    });
  }
};
const Registrations registrations;

}  // namespace
}  // namespace trigram::cuda
