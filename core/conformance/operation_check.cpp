#include "core/conformance/operation_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "core/conformance/operation_inputs.hpp"
#include "core/device/on_host.hpp"
#include "core/registry/by_device.hpp"
#include "core/step/operation.hpp"
#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "core/values/quoted.hpp"
#include "core/values/random.hpp"

namespace trigram {
namespace {

constexpr float difference_step = 0x1p-6F;     // of finite differences
constexpr int directions = 6;                  // along which gradients are looked at
constexpr double difference_tolerance = 1e-3;  // of a gradient's length: what f32 and the step leave

using Bytes = std::vector<std::byte>;

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// One operation with inputs of one trial.
class OperationCheck {
 public:
  OperationCheck(Device& device, const std::string& spec, const TensorShapes& shapes)
      : device_(device), operation_(device.make_operation(spec)), applied_(device, spec, shapes) {
    check_size(spec, shapes);
    const std::int64_t positions = operation_->shapes(shapes).positions;
    const std::vector<OperationInput> named = operation_->inputs();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      inputs_.push_back(allocated(shapes[i]));
      if (shapes[i].dtype == DType::f32)
        put(inputs_[i], named[i].compared ? values_apart(shapes[i].count(), 4 * difference_step, 11 + i)
                                          : values_of(shapes[i].count(), 11 + i));
      else
        device.upload(positions_of(shapes[i], positions, 11 + i), inputs_[i]);
      tried_.inputs += (i == 0 ? "" : ", ") + shapes[i].text();
    }
    for (const TensorShape& shape : applied_.outputs()) outputs_.push_back(allocated(shape));
    for (const TensorShape& shape : applied_.saved()) saved_.push_back(allocated(shape));
    scratch_ = device.allocate(applied_.scratch());
    tried_.flops = applied_.work().forward.flops;
    tried_.bytes = applied_.work().forward.bytes;
  }

  TriedOperation run() {
    if (applied_.work().backward.size() != inputs_.size()) {
      report("work", "is declared for the gradients of " + std::to_string(applied_.work().backward.size()) +
                         " inputs, of which there are " + std::to_string(inputs_.size()));
      return tried_;
    }
    forward();
    if (operation_->in_place()) in_place();
    for (std::size_t i = 0; i < inputs_.size(); ++i) gradient(i);
    return tried_;
  }

 private:
  /// Parameters decide how large results are, as padding does.
  void check_size(const std::string& spec, const TensorShapes& inputs) const {
    constexpr double most = 1 << 22;  // finite differences go through them a hundred times
    double elements = static_cast<double>(applied_.scratch().count);
    for (const TensorShapes& tensors : {inputs, applied_.outputs(), applied_.saved()}) {
      for (const TensorShape& tensor : tensors) elements += static_cast<double>(tensor.count());
    }
    require(elements <= most, "checking operation " + in_quotes(spec) + " goes through " + number_text(elements) +
                                  " elements again and again; choose parameters that make at most " +
                                  number_text(most));
  }
  void report(const std::string& invariant, const std::string& text) {
    tried_.violations.push_back({invariant, tried_.inputs + ": " + text});
  }

  OwnedBuffer allocated(const TensorShape& shape) { return device_.allocate(Shape::of(shape.count(), shape.dtype)); }
  void put(Buffer to, const std::vector<float>& values) { device_.upload(std::as_bytes(std::span(values)), to); }
  std::vector<float> floats(Buffer from) { return on_host<float>(device_, from); }
  /// What forward wrote, all tensors end to end.
  Bytes written(const std::vector<Buffer>& outputs, const std::vector<Buffer>& saved) {
    Bytes all;
    for (const std::vector<Buffer>* tensors : {&outputs, &saved}) {
      for (const Buffer& tensor : *tensors) {
        Bytes bytes(static_cast<std::size_t>(tensor.bytes()));
        device_.download(tensor, bytes);
        all.insert(all.end(), bytes.begin(), bytes.end());
      }
    }
    return all;
  }
  static std::vector<Buffer> views(const std::vector<OwnedBuffer>& owned) { return {owned.begin(), owned.end()}; }

  /// Runs forward over whatever `filler` leaves in the memory that it is to write.
  void forward_over(double filler) {
    for (const std::vector<OwnedBuffer>* tensors : {&outputs_, &saved_}) {
      for (const Buffer tensor : *tensors) device_.fill(tensor, tensor.dtype() == DType::f32 ? filler : 77);
    }
    device_.fill(scratch_, filler);
    applied_.forward(device_, {views(inputs_), views(outputs_), views(saved_), scratch_});
  }

  void forward() {
    forward_over(0);
    const Bytes once = written(views(outputs_), views(saved_));
    forward_over(std::numeric_limits<double>::quiet_NaN());
    if (written(views(outputs_), views(saved_)) != once)
      report("forward", "gives other bits a second time, or leaves elements unwritten");
  }

  void in_place() {
    const Bytes apart = written(views(outputs_), views(saved_));
    const OwnedBuffer first = allocated(applied_.inputs()[0]);
    device_.copy(inputs_[0], first);
    std::vector<Buffer> inputs = views(inputs_), outputs = views(outputs_), saved = views(saved_);
    inputs[0] = first;
    (saved.empty() ? outputs : saved)[0] = first;
    applied_.forward(device_, {inputs, outputs, saved, scratch_});
    if (written(outputs, saved) != apart) report("forward", "in place gives other bits than into memory of its own");
  }

  /// Σ over outputs of output · its gradient.
  double scored() {
    forward_over(0);
    double sum = 0;
    for (std::size_t i = 0; i < outputs_.size(); ++i) sum += dot(floats(outputs_[i]), floats(slopes_[i]));
    return sum;
  }

  void gradient(std::size_t input) {
    const OperationInput named = operation_->inputs()[input];
    if (named.gradient == InputGradient::none) return;
    slopes_.clear();
    for (const TensorShape& shape : applied_.outputs()) {
      slopes_.push_back(allocated(shape));
      const bool loss = named.gradient == InputGradient::left;
      put(slopes_.back(), loss ? std::vector<float>(static_cast<std::size_t>(shape.count()), 1.0F)
                               : values_of(shape.count(), 31 + slopes_.size()));
    }
    const std::vector<float> found = computed(input, named.gradient);
    const std::vector<float> before = floats(inputs_[input]);
    const double length = std::sqrt(dot(found, found));
    for (int direction = 0; direction < directions; ++direction) {
      const std::vector<float> along =
          values_of(static_cast<std::int64_t>(before.size()), 71 + static_cast<std::uint64_t>(direction));
      // Richardson's extrapolation: what the third derivative adds goes out.
      const double near = slope(input, before, along, difference_step / 2);
      const double expected = (4 * near - slope(input, before, along, difference_step)) / 3;
      if (!agree(named.name, dot(found, along), expected, length)) break;
    }
    put(inputs_[input], before);
  }

  bool agree(const std::string& name, double found, double expected, double length) {
    const double error = std::abs(found - expected) / std::max({length, std::abs(expected), 0x1p-20});
    tried_.error = std::max(tried_.error, error);
    if (error <= difference_tolerance) return true;
    report("gradients", "along a direction that of the " + name + " is " + std::to_string(found) +
                            ", finite differences say " + std::to_string(expected));
    return false;
  }

  double slope(std::size_t input, const std::vector<float>& at, const std::vector<float>& along, float step) {
    return (moved(input, at, along, step) - moved(input, at, along, -step)) / (2 * static_cast<double>(step));
  }

  double moved(std::size_t input, std::vector<float> values, const std::vector<float>& along, float by) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += by * along[i];
    put(inputs_[input], values);
    return scored();
  }

  /// The gradient of an input at its present value, from wherever the operation says that it comes.
  std::vector<float> computed(std::size_t input, InputGradient from) {
    forward_over(0);
    if (from == InputGradient::passed) return floats(slopes_[0]);
    if (from == InputGradient::left) return floats(saved_[0]);
    std::vector<float> found;
    for (const double filler : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
      const OwnedBuffer gradient = allocated(applied_.inputs()[input]);
      device_.fill(gradient, filler);
      device_.fill(scratch_, filler);
      std::vector<Buffer> wanted(inputs_.size());
      wanted[input] = gradient;
      applied_.backward(device_, {views(inputs_), views(outputs_), views(saved_), views(slopes_), wanted, scratch_});
      const std::vector<float> before = std::exchange(found, floats(gradient));
      if (filler != 0.0 && !std::ranges::equal(std::as_bytes(std::span(before)), std::as_bytes(std::span(found))))
        report("gradients",
               "other bits a second time, or elements unwritten, in that of the " + operation_->inputs()[input].name);
    }
    return found;
  }

  Device& device_;
  std::unique_ptr<Operation> operation_;
  AppliedOperation applied_;
  std::vector<OwnedBuffer> inputs_, outputs_, saved_, slopes_;
  OwnedBuffer scratch_;
  TriedOperation tried_;
};

std::vector<std::byte> packed(const std::vector<TriedOperation>& all) {
  Packer packer;
  packer.put(all.size());
  for (const TriedOperation& tried : all) {
    packer.put_text(tried.inputs);
    packer.put(tried.flops);
    packer.put(tried.bytes);
    packer.put(tried.error);
    put_violations(packer, tried.violations);
  }
  return std::move(packer).bytes();
}

std::vector<TriedOperation> tried_operations(const std::vector<std::byte>& bytes) {
  Unpacker unpacker(bytes);
  std::vector<TriedOperation> all(unpacker.take<std::size_t>());
  for (TriedOperation& tried : all) {
    tried.inputs = unpacker.take_text();
    tried.flops = unpacker.take<double>();
    tried.bytes = unpacker.take<double>();
    tried.error = unpacker.take<double>();
    tried.violations = take_violations(unpacker);
  }
  return all;
}

}  // namespace

std::vector<TriedOperation> try_operation(const std::string& spec, Device& device) {
  std::vector<TriedOperation> all;
  for (const TensorShapes& trial : device.make_operation(spec)->trials())
    all.push_back(OperationCheck(device, spec, trial).run());
  return all;
}

std::vector<TriedOperation> try_operation(const std::string& spec, Backend& backend, int ranks) {
  make_on_any<Operation>(spec);
  World world;
  world.ranks = ranks;
  const Outcome outcome =
      backend.run(world, [&](RankRuntime& runtime) { return packed(try_operation(spec, *runtime.lane(0).device)); });
  return tried_operations(outcome.results.front());
}

}  // namespace trigram
