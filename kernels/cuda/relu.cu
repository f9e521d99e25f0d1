// ReLU on device memory.
#include "kernels/cuda/elements.hpp"
#include "kernels/operations/relu.hpp"

namespace trigram {
namespace {

/// A NaN stays.
struct Rectified {
  __device__ __forceinline__ float operator()(float x) const { return x < 0.0F ? 0.0F : x; }
};

struct WhereActive {
  __device__ __forceinline__ float operator()(float activated, float gradient) const {
    return activated == 0.0F ? 0.0F : gradient;
  }
};

class Relu final : public ReluModel {
  void compute(Kernels& kernels, const TensorShapes&, const OperationForward& memory) const override {
    bring(kernels, memory.inputs[0], memory.outputs[0]);
    cuda::change_each_of<float>("relu", cuda::cuda_of(kernels), memory.outputs[0], Rectified{});
  }
  void differentiate(Kernels& kernels, const TensorShapes&, const OperationBackward& memory) const override {
    const Buffer gradient = memory.input_gradients[0];
    bring(kernels, memory.output_gradients[0], gradient);
    cuda::combine_pairs_of<float>("relu_backward", cuda::cuda_of(kernels), memory.outputs[0], gradient, WhereActive{});
  }
};

const Operations::Registration registration("cuda/relu", ReluModel::description(),
                                            [](Params&) { return std::make_unique<Relu>(); });

}  // namespace
}  // namespace trigram
