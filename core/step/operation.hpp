// What models compute besides matrix products: layers, activations, losses. An operation knows shapes, work, forward
// and backward, and is registered once for each kind of device ("cpu/conv2d", "cuda/conv2d"), as codecs are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.hpp"
#include "core/registry/registry.hpp"
#include "core/step/bucket.hpp"
#include "core/values/buffer.hpp"

namespace trigram {

/// A tensor without memory. Its elements lie row-major, the last dimension side by side.
struct TensorShape {
  Dimensions dimensions;
  DType dtype = DType::f32;

  /// Their product. Throws UsageError for what no memory holds.
  std::int64_t count() const;
  double bytes() const { return static_cast<double>(count() * size_of(dtype)); }
  /// "[32, 3, 28, 28]"
  std::string text() const;
};
using TensorShapes = std::vector<TensorShape>;

/// Where the gradient of an input comes from.
enum class InputGradient : std::uint8_t {
  none,      ///< it has none, as labels
  computed,  ///< backward writes it
  passed,    ///< it is the gradient of the first output as it stands: whoever wants it takes that
  left       ///< forward left it in the first saved tensor: of a loss, with which a model ends
};

/// What an operation reads.
struct OperationInput {
  std::string name;  ///< as messages say it: "images"
  InputGradient gradient = InputGradient::computed;
  bool compared = false;  ///< elements are compared with each other, so that gradients jump where two are equal
};

/// What comes of inputs of given shapes.
struct OperationShapes {
  TensorShapes outputs;
  TensorShapes saved = {};     ///< what forward leaves for backward beside inputs and outputs
  std::int64_t scratch = 0;    ///< elements of f32 that each call overwrites as it likes
  std::int64_t positions = 0;  ///< whole numbers among the inputs are in [0, positions)
};

/// Work of one kernel each, for the roofline of the modelled GPU: what a library's kernel computes, and the bytes that
/// it has to touch. What takes nothing is no launch.
struct OperationWork {
  KernelCost forward;
  std::vector<KernelCost> backward;  ///< by input, for its gradient
};

/// The memory of a forward. Outputs and saved tensors are written whole.
struct OperationForward {
  std::vector<Buffer> inputs, outputs, saved = {};
  Buffer scratch = {};
};

/// The memory of a backward: what forward had and wrote, the gradient of each output, and where that of each input
/// goes. Gradients are written, not added; an empty buffer stands for one that nobody wants.
struct OperationBackward {
  std::vector<Buffer> inputs, outputs, saved = {};
  std::vector<Buffer> output_gradients, input_gradients;
  Buffer scratch = {};
};

/// One operation with its parameters. Products of one name must agree on all kinds of device up to the rounding of
/// matrix products and exponentials, and give the same bits each time.
class Operation {
 public:
  static constexpr const char* registry_kind = "operation";
  virtual ~Operation() = default;

  virtual std::vector<OperationInput> inputs() const = 0;
  /// Throws UsageError where inputs do not fit each other or the parameters; who asks says for which inputs.
  virtual OperationShapes shapes(const TensorShapes& inputs) const = 0;
  virtual OperationWork work(const TensorShapes& inputs) const = 0;
  /// Whether the first output, or the first saved tensor of a loss, may lie on the first input, and then the gradient
  /// of that input on that of the output. No other memory of a call may be shared.
  virtual bool in_place() const { return false; }
  /// Shapes of inputs with which tests try it; each thing that its parameters and sizes can change is in one of them.
  virtual std::vector<TensorShapes> trials() const = 0;

 protected:
  friend class AppliedOperation;
  /// Shapes have been checked, types and sizes too; no buffer is a phantom. Tensors may be empty.
  virtual void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const = 0;
  /// Asked for only where a gradient is wanted, and the operation says that it is computed.
  virtual void differentiate(Kernels& /*kernels*/, const TensorShapes& /*inputs*/,
                             const OperationBackward& /*memory*/) const {}
};

using Operations = Registry<Operation>;

/// An operation of one kind of device on inputs of known shapes: checked and weighed once, called each step.
class AppliedOperation {
 public:
  /// Throws UsageError for an unknown name, a bad parameter, or shapes that do not fit, and names them. What costs is
  /// `modelled`, where the tensors only stand for larger ones.
  AppliedOperation(const Device& device, const std::string& spec, TensorShapes inputs, TensorShapes modelled = {});
  /// The same on no device, to look at shapes before any rank starts; to call it is an Error.
  AppliedOperation(const std::string& spec, TensorShapes inputs);

  const TensorShapes& inputs() const { return inputs_; }
  const TensorShapes& outputs() const { return shapes_.outputs; }
  const TensorShapes& saved() const { return shapes_.saved; }
  /// The scratch of a call.
  Shape scratch() const { return Shape::of(shapes_.scratch, DType::f32); }
  const OperationWork& work() const { return work_; }

  /// Charge the work and compute it, unless a buffer is a phantom. Throw Error where memory has not the shapes.
  void forward(Device& device, const OperationForward& memory) const;
  void backward(Device& device, const OperationBackward& memory) const;

 private:
  AppliedOperation(std::string name, std::shared_ptr<const Operation> operation, TensorShapes inputs,
                   const TensorShapes& modelled);
  void require_fit(const Device& device, const char* what, const std::vector<Buffer>& given,
                   const TensorShapes& wanted) const;
  void require_fit(const Device& device, const char* what, const Buffer& given, const TensorShape& wanted) const;
  void require_on(const Device& device, const char* call, const Buffer& scratch) const;
  /// Checks and charges the gradients that are wanted; whether any is.
  bool wants(Device& device, const std::vector<Buffer>& gradients) const;

  std::string name_;  ///< "operation 'conv2d'"
  std::string kind_;  ///< of device; empty: none
  std::shared_ptr<const Operation> operation_;
  TensorShapes inputs_;
  OperationShapes shapes_;
  OperationWork work_;
  std::vector<OperationInput> named_;
};

}  // namespace trigram
