// Memory and arithmetic where the data lives. On the simulator every operation also costs simulated time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/device/kernels.hpp"
#include "core/device/optimizer_step.hpp"
#include "core/device/rule.hpp"
#include "core/device/timeline.hpp"
#include "core/values/buffer.hpp"

namespace trigram {

class Codec;
class Operation;

/// Cost of one kernel on the modelled GPU: launch + max(flops / peak, bytes / bandwidth) seconds; plus `seconds` that
/// were measured, which need no launch.
struct KernelCost {
  double flops = 0;
  double bytes = 0;
  double seconds = 0;
};

/// Work of a rank's host beside kernel launches, during which its lane stands still.
enum class HostWork : std::uint8_t {
  call,  ///< starts one collective, or one exchange outside a collective (the cluster's call_overhead)
  step   ///< everything else per training step (the cluster's step_overhead)
};

enum class CodecStep : std::uint8_t { encode, decode, decode_add };

/// One operation of a codec, known by its name, on so many elements.
struct CodecWork {
  std::string_view codec;
  CodecStep step;
  std::int64_t elements;
};

/// The speed of an operation of a codec, as measured: seconds = call + elements · element.
struct CodecRate {
  double call = 0;
  double element = 0;
};

/// Owns the memory behind a Buffer; convertible to the view.
class OwnedBuffer {
 public:
  OwnedBuffer() = default;
  OwnedBuffer(std::shared_ptr<void> memory, const Shape& shape)
      : memory_(std::move(memory)), view_(memory_.get(), shape) {}
  operator Buffer() const { return view_; }  // NOLINT(google-explicit-constructor): a view of what it owns
  const Buffer& view() const { return view_; }

 private:
  std::shared_ptr<void> memory_;
  Buffer view_;
};

/// The device of one lane of one rank. Every public operation checks shapes and types (Error), charges its
/// cost by the modelled sizes, and computes unless the buffers are phantoms. All operations are enqueued on the
/// lane, in order; the host may look at results only after `download` or `synchronize`.
class Device {
 public:
  Device(std::shared_ptr<Kernels> kernels, Timeline& timeline)
      : kernels_(std::move(kernels)), rules_(DeviceRules::of(kernels_->kind())), timeline_(timeline) {}
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  std::string_view kind() const { return kernels_->kind(); }
  Timeline& timeline() { return timeline_; }
  const Timeline& timeline() const { return timeline_; }
  /// The raw arithmetic, for codecs and operations of this kind of device.
  Kernels& kernels() { return *kernels_; }

  /// Zero-filled memory of that shape; a phantom shape owns nothing.
  OwnedBuffer allocate(const Shape& shape);
  /// The same without zero-filling, for memory that is overwritten before it is read: filling takes real time.
  OwnedBuffer allocate_unfilled(const Shape& shape);
  void upload(std::span<const std::byte> from, Buffer to);
  /// Waits for the lane, then copies to the host. Throws Error on a phantom.
  void download(Buffer from, std::span<std::byte> to);
  void synchronize() { kernels_->synchronize(); }

  void copy(Buffer from, Buffer to);
  void fill(Buffer x, double value);
  /// Standard normal numbers, f32, the same bits on every kind of device: element i from word i of the key's stream, by
  /// the inverse of the normal distribution within 2e-7 of its size, between −6.34 and 6.34.
  void fill_normal(Buffer x, const Key& key);
  /// The elementwise rule of that name. Throws UsageError for a name that there is not.
  const Rule& rule(std::string_view name) const { return rule_on(kind(), name); }
  /// What a rule makes of its last operand, and of each other that it changes. One launch; the memory that it reads and
  /// writes is that of its operands, whatever it computes between.
  void apply(const Rule& rule, std::span<const double> scalars, std::span<const Buffer> operands);
  void apply(const Rule& rule, std::initializer_list<double> scalars, std::initializer_list<Buffer> operands) {
    apply(rule, std::span(scalars.begin(), scalars.size()), std::span(operands.begin(), operands.size()));
  }
  void apply(std::string_view name, std::initializer_list<double> scalars, std::initializer_list<Buffer> operands) {
    apply(rule(name), scalars, operands);
  }
  /// The same for several parts in one launch.
  void apply(const Rule& rule, const TwoScalars& scalars, std::span<const RulePart> parts);
  void scale(Buffer x, float a) { apply(rules_.scale, {a}, {x}); }                           ///< x = a·x
  void axpby(float a, Buffer x, float b, Buffer y) { apply(rules_.axpby, {a, b}, {x, y}); }  ///< y = a·x + b·y
  /// y = x·y, element by element; an x of one f32 multiplies all of y, so that a norm or a weight that was computed on
  /// the device is never copied to the host.
  void multiply(Buffer x, Buffer y) { apply(rules_.multiply, {}, {x, y}); }
  /// y = y/x, in place in the second argument: element by element, or all by an x of one f32. Rounded as IEEE 754 says;
  /// what is divided by 0 is infinite or NaN.
  void divide(Buffer x, Buffer y) { apply(rules_.divide, {}, {x, y}); }
  /// x = x/divisor of whole numbers, towards zero; divisor is at least 1.
  void divide_whole(Buffer x, std::int64_t divisor);
  /// x = √x, element by element: the square root, not the root of a collective.
  void root(Buffer x) { apply(rules_.root, {}, {x}); }
  /// y = y + a·x, where a is one f32 on the device.
  void add_scaled(Buffer a, Buffer x, Buffer y) { apply(rules_.add_scaled, {}, {a, x, y}); }
  void reduce(ReduceOp op, Buffer x, Buffer y);  ///< y = op(y, x), any type; `mean` adds, and divides nothing
  /// y = Σ weights[i]·x[i], added in the order given; y may be one of the x.
  void weighted_sum(std::span<const Buffer> x, std::span<const float> weights, Buffer y);
  void convert(Buffer x, Buffer y);  ///< y = x in y's type: f32, f16 or bf16, to nearest even
  /// x ← x in the precision of `type`, f32 all along. Costs no time: a model of that type computes it so.
  void round_to(DType type, Buffer x);
  void dot(Buffer x, Buffer y, Buffer result);  ///< result, one f32, = Σ x_i y_i
  /// c = alpha·op(a)·op(b) + beta·c, row-major f32; op transposes where the shape says so.
  void gemm(const GemmShape& shape, Buffer a, Buffer b, Buffer c);
  /// norms[i] = the Euclidean length of row or column i of a row-major f32 matrix, of as many rows or columns as
  /// `norms` has elements; 0 for a row or column of no elements. Squares are added in f64, so that none overflows, by
  /// the one order of all sums: the same bits on every kind of device.
  void norms(Lines lines, Buffer matrix, Buffer norms);
  /// Every element of row or column i of such a matrix is multiplied by factors[i].
  void multiply_lines(Lines lines, Buffer factors, Buffer matrix) {
    apply_by_lines(rules_.multiply, "multiply_lines", lines, factors, matrix);
  }
  /// The same with a division, rounded as IEEE 754 says; what is divided by 0 is infinite or NaN.
  void divide_lines(Lines lines, Buffer divisors, Buffer matrix) {
    apply_by_lines(rules_.divide, "divide_lines", lines, divisors, matrix);
  }
  /// Makes the columns of each matrix orthonormal, in their order, in one launch for all; the same bits on every kind
  /// of device. A column of which those before it leave no more than 2^-20 of its length becomes the first unit vector
  /// that they do not span, made orthogonal to them: columns are orthonormal always, and span what they spanned before.
  /// A NaN or an infinity makes its column NaN, and those after it.
  void orthonormalise(std::span<const TallMatrix> matrices);
  /// One fused step over all tensors: one launch, and every element is read and written once.
  void sgd(std::span<const SgdTensor> tensors, const SgdConstants& constants);
  void sgd(const SgdTensor& tensor, const SgdConstants& constants) { sgd(std::span(&tensor, 1), constants); }
  void adam(std::span<const AdamTensor> tensors, const AdamConstants& constants);
  void adam(const AdamTensor& tensor, const AdamConstants& constants) { adam(std::span(&tensor, 1), constants); }

  /// The codec registered for this kind of device, from "name:key=value,…".
  std::unique_ptr<Codec> make_codec(std::string_view spec);
  /// The operation of models registered for it, likewise.
  std::unique_ptr<Operation> make_operation(std::string_view spec) const;

  /// Spends the simulated time of one kernel, or of `seconds` measured elsewhere (a layer of a profile, which is a
  /// table of measured layer times). Does nothing on a real device and inside Uncharged.
  void charge(const KernelCost& cost) {
    if (uncharged_) return;
    if (fused_ == nullptr) return spend(cost);
    fused_->cost.flops += cost.flops;
    fused_->cost.bytes += cost.bytes;
    fused_->cost.seconds += cost.seconds;
  }
  /// The same of a codec's operation: by its own speed where this device knows that, else by `cost`. Inside `fused`,
  /// all operations of one step are one call.
  void charge(const KernelCost& cost, const CodecWork& work);
  /// Spends the simulated time that the host needs. A real host takes its time by itself.
  void charge_host(HostWork work) {
    if (!uncharged_) spend_host(work);
  }
  void charge_seconds(double seconds) {
    if (!uncharged_) spend_seconds(seconds);
  }

  /// Runs `operations` as the one kernel that does them all: a launch, and the sum of their costs, recorded as one
  /// span. They must be operations of this device only, and must not block. Calls do not nest.
  void fused(Activity activity, const char* name, const std::function<void()>& operations);

  /// While it lives, operations of this device cost no simulated time, because a profile's layer times or the model of
  /// a collective include them. No blocking call may be made meanwhile.
  class Uncharged {
   public:
    explicit Uncharged(Device& device) : device_(device), before_(device.uncharged_) { device_.uncharged_ = true; }
    ~Uncharged() { device_.uncharged_ = before_; }
    Uncharged(const Uncharged&) = delete;
    Uncharged& operator=(const Uncharged&) = delete;

   private:
    Device& device_;
    bool before_;
  };

 protected:
  virtual void spend(const KernelCost&) {}
  virtual void spend_seconds(double /*seconds*/) {}
  virtual void spend_host(HostWork) {}
  virtual std::optional<CodecRate> rate_of(const CodecWork&) const { return std::nullopt; }

 private:
  /// What adds up while `fused` runs.
  struct Fused {
    KernelCost cost;
    unsigned calls = 0;  ///< a bit for each CodecStep that was called
  };

  /// Checks, charges and computes a rule with a factor for each row or column.
  void apply_by_lines(const Rule& rule, const char* operation, Lines lines, Buffer factors, Buffer matrix);
  OwnedBuffer allocated(const Shape& shape, void* (Kernels::*how)(std::size_t));

  std::shared_ptr<Kernels> kernels_;
  const DeviceRules& rules_;
  Timeline& timeline_;
  bool uncharged_ = false;
  Fused* fused_ = nullptr;
};

}  // namespace trigram
