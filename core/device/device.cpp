// Checks, charges and dispatches every operation of a Device.
#include "core/device/device.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "core/values/error.hpp"

namespace trigram {
namespace {

std::string elements_of(const Buffer& x) {
  return std::to_string(x.count()) + " elements of " + std::string(name_of(x.dtype()));
}

/// Checks the arguments of one operation; whose error it is and where, is said only when there is one.
class Check {
 public:
  Check(const char* operation, const Timeline& timeline) : operation_(operation), timeline_(timeline) {}

  void floating(const Buffer& x) const {
    if (!is_floating(x.dtype())) fail("works on f32, f16 and bf16, got " + elements_of(x));
  }
  void whole(const Buffer& x) const {
    if (is_floating(x.dtype())) fail("works on whole numbers, got " + elements_of(x));
  }
  void type(const char* what, const Buffer& x, DType dtype) const {
    if (x.dtype() != dtype)
      fail(std::string(what) + " must be " + std::string(name_of(dtype)) + ", got " + elements_of(x));
  }
  void count(const char* what, const Buffer& x, std::int64_t count) const {
    if (x.count() != count)
      fail(std::string(what) + " must have " + std::to_string(count) + " elements, got " + elements_of(x));
  }
  void alike(const Buffer& x, const Buffer& y) const {
    if (x.count() != y.count() || x.dtype() != y.dtype())
      fail(elements_of(x) + " do not fit " + elements_of(y) + "; they must be alike");
  }
  /// Each element of `factors` belongs to one row or column of `matrix`.
  void lines(Lines lines, const Buffer& matrix, const Buffer& factors) const {
    for (const Buffer& x : {matrix, factors}) type("the matrix and its row or column factors", x, DType::f32);
    const bool whole = factors.count() == 0 ? matrix.count() == 0 : matrix.count() % factors.count() == 0;
    if (!whole)
      fail(elements_of(matrix) + " are no matrix of " + std::to_string(factors.count()) +
           (lines == Lines::rows ? " rows" : " columns"));
  }
  /// `matrix` has at least as many rows as columns.
  void tall(const Buffer& matrix, std::int64_t columns) const {
    if (columns < 1 || matrix.count() % columns != 0 || matrix.count() / columns < columns)
      fail(elements_of(matrix) + " are no matrix of " + std::to_string(columns) + " columns with at least " +
           std::to_string(columns) + " rows");
  }
  /// The host's `bytes` are those of x.
  void bytes(const Buffer& x, std::size_t bytes) const {
    if (static_cast<std::int64_t>(bytes) != x.bytes())
      fail(elements_of(x) + " are " + std::to_string(x.bytes()) + " bytes, the host has " + std::to_string(bytes));
  }
  [[noreturn]] void fail(const std::string& problem) const {
    const std::string where = timeline_.where();
    throw Error((where.empty() ? "" : where + ": ") + operation_ + ": " + problem);
  }

 private:
  const char* operation_;
  const Timeline& timeline_;
};

template <class... Buffers>
bool none_is_phantom(const Buffers&... buffers) {
  return !(buffers.is_phantom() || ...);
}

/// One f32, which may stand for as many as another buffer has.
bool is_scalar(const Buffer& x) { return x.dtype() == DType::f32 && x.modelled_count() == 1; }

double elements(const Buffer& x) { return static_cast<double>(x.modelled_count()); }
double bytes(const Buffer& x) { return static_cast<double>(x.modelled_bytes()); }

/// Multiplications of a matrix product; where sizes are modelled, those of the modelled one: mk · kn · mn = (mnk)².
double products(const GemmShape& shape, const Buffer& a, const Buffer& b, const Buffer& c) {
  const auto as_modelled = [](const Buffer& x) { return x.modelled_count() == x.count(); };
  if (as_modelled(a) && as_modelled(b) && as_modelled(c))
    return static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  return std::sqrt(elements(a) * elements(b) * elements(c));
}

}  // namespace

OwnedBuffer Device::allocate(const Shape& shape) { return allocated(shape, &Kernels::allocate); }

OwnedBuffer Device::allocate_unfilled(const Shape& shape) { return allocated(shape, &Kernels::allocate_unfilled); }

OwnedBuffer Device::allocated(const Shape& shape, void* (Kernels::*how)(std::size_t)) {
  const std::int64_t bytes = shape.phantom ? 0 : shape.count * size_of(shape.dtype);
  if (bytes == 0) return {nullptr, shape};
  const auto release = [kernels = kernels_](void* address) { kernels->release(address); };
  return {std::shared_ptr<void>((kernels_.get()->*how)(static_cast<std::size_t>(bytes)), release), shape};
}

void Device::upload(std::span<const std::byte> from, Buffer to) {
  if (to.is_phantom()) return;
  Check("upload", timeline_).bytes(to, from.size());
  if (to.count() > 0) kernels_->upload(from, to);
}

void Device::download(Buffer from, std::span<std::byte> to) {
  const Check check("download", timeline_);
  if (from.is_phantom()) check.fail("a phantom buffer has no data to look at");
  check.bytes(from, to.size());
  if (from.count() > 0) kernels_->download(from, to);
}

void Device::fused(Activity activity, const char* name, const std::function<void()>& operations) {
  if (fused_ != nullptr) Check(name, timeline_).fail("fused kernels do not nest");
  const Timeline::Scope scope(timeline_, activity, name);
  Fused all;
  fused_ = &all;
  try {
    operations();
  } catch (...) {
    fused_ = nullptr;
    throw;
  }
  fused_ = nullptr;
  charge(all.cost);
}

void Device::charge(const KernelCost& cost, const CodecWork& work) {
  const std::optional<CodecRate> rate = uncharged_ ? std::nullopt : rate_of(work);
  if (!rate) return charge(cost);
  const unsigned step = 1U << static_cast<unsigned>(work.step);
  const bool called = fused_ != nullptr && (fused_->calls & step) != 0;
  if (fused_ != nullptr) fused_->calls |= step;
  charge({.seconds = (called ? 0 : rate->call) + static_cast<double>(work.elements) * rate->element});
}

void Device::copy(Buffer from, Buffer to) {
  const Check check("copy", timeline_);
  check.alike(from, to);
  charge({0, bytes(from) + bytes(to)});
  if (none_is_phantom(from, to) && to.count() > 0) kernels_->copy(from, to);
}

void Device::fill(Buffer x, double value) {
  charge({0, bytes(x)});
  if (none_is_phantom(x) && x.count() > 0) kernels_->fill(x, value);
}

void Device::fill_normal(Buffer x, const Key& key) {
  Check("fill_normal", timeline_).type("x", x, DType::f32);
  constexpr double flops = 18;  // of an element that is no rare one
  charge({flops * elements(x), bytes(x)});
  if (none_is_phantom(x) && x.count() > 0) kernels_->fill_normal(x, key);
}

void Device::scale(Buffer x, float a) {
  const Check check("scale", timeline_);
  check.floating(x);
  charge({elements(x), 2 * bytes(x)});
  if (none_is_phantom(x) && x.count() > 0) kernels_->scale(x, a);
}

void Device::axpby(float a, Buffer x, float b, Buffer y) {
  const Check check("axpby", timeline_);
  check.floating(x);
  check.alike(x, y);
  charge({3 * elements(y), bytes(x) + 2 * bytes(y)});
  if (none_is_phantom(x, y) && y.count() > 0) kernels_->axpby(a, x, b, y);
}

void Device::multiply(Buffer x, Buffer y) {
  if (combines("multiply", x, y)) kernels_->multiply(x, y);
}

void Device::divide(Buffer x, Buffer y) {
  if (combines("divide", x, y)) kernels_->divide(x, y);
}

void Device::divide_whole(Buffer x, std::int64_t divisor) {
  const Check check("divide_whole", timeline_);
  check.whole(x);
  ensure(divisor >= 1, "divide_whole: ", divisor, " is less than 1");
  charge({elements(x), 2 * bytes(x)});
  if (none_is_phantom(x) && x.count() > 0) kernels_->divide_whole(x, divisor);
}

bool Device::combines(const char* operation, Buffer x, Buffer y) {
  const Check check(operation, timeline_);
  check.floating(y);
  if (!is_scalar(x)) check.alike(x, y);
  charge({elements(y), bytes(x) + 2 * bytes(y)});
  return none_is_phantom(x, y) && y.count() > 0;
}

void Device::root(Buffer x) {
  const Check check("root", timeline_);
  check.floating(x);
  charge({elements(x), 2 * bytes(x)});
  if (none_is_phantom(x) && x.count() > 0) kernels_->root(x);
}

void Device::add_scaled(Buffer a, Buffer x, Buffer y) {
  const Check check("add_scaled", timeline_);
  check.floating(y);
  check.alike(x, y);
  if (!is_scalar(a)) check.fail("its factor has " + std::to_string(a.count()) + " elements where one f32 is wanted");
  charge({2 * elements(y), bytes(x) + 2 * bytes(y)});
  if (none_is_phantom(a, x, y) && y.count() > 0) kernels_->add_scaled(a, x, y);
}

void Device::reduce(ReduceOp op, Buffer x, Buffer y) {
  const Check check("reduce", timeline_);
  check.alike(x, y);
  charge({elements(y), bytes(x) + 2 * bytes(y)});
  if (none_is_phantom(x, y) && y.count() > 0) kernels_->reduce(op, x, y);
}

void Device::weighted_sum(std::span<const Buffer> x, std::span<const float> weights, Buffer y) {
  const Check check("weighted_sum", timeline_);
  check.floating(y);
  if (x.size() != weights.size())
    check.fail(std::to_string(x.size()) + " buffers and " + std::to_string(weights.size()) + " weights");
  KernelCost cost{2 * elements(y) * static_cast<double>(x.size()), bytes(y)};
  bool phantom = y.is_phantom();
  for (const Buffer& term : x) {
    check.alike(term, y);
    cost.bytes += bytes(term);
    phantom |= term.is_phantom();
  }
  charge(cost);
  if (!phantom && y.count() > 0) kernels_->weighted_sum(x, weights, y);
}

void Device::convert(Buffer x, Buffer y) {
  const Check check("convert", timeline_);
  check.floating(x);
  check.floating(y);
  check.count("the result", y, x.count());
  charge({elements(x), bytes(x) + bytes(y)});
  if (none_is_phantom(x, y) && y.count() > 0) kernels_->convert(x, y);
}

void Device::round_to(DType type, Buffer x) {
  if (type == x.dtype() || x.is_phantom() || x.count() == 0) return;
  const Uncharged of_the_model(*this);
  Shape shape = x.shape();
  shape.dtype = type;
  const OwnedBuffer cast = allocate_unfilled(shape);
  convert(x, cast);
  convert(cast, x);
}

void Device::dot(Buffer x, Buffer y, Buffer result) {
  const Check check("dot", timeline_);
  check.type("x", x, DType::f32);
  check.alike(x, y);
  check.type("the result", result, DType::f32);
  check.count("the result", result, 1);
  charge({2 * elements(x), bytes(x) + bytes(y) + bytes(result)});
  if (none_is_phantom(x, y, result)) kernels_->dot(x, y, result);
}

void Device::gemm(const GemmShape& shape, Buffer a, Buffer b, Buffer c) {
  const Check check("gemm", timeline_);
  for (const Buffer& matrix : {a, b, c}) check.type("every matrix", matrix, DType::f32);
  const bool real = none_is_phantom(a, b, c);
  if (real) {
    check.count("A", a, shape.m * shape.k);
    check.count("B", b, shape.k * shape.n);
    check.count("C", c, shape.m * shape.n);
  }
  charge({2 * products(shape, a, b, c), bytes(a) + bytes(b) + bytes(c) * (shape.beta == 0.0F ? 1 : 2)});
  if (real && c.count() > 0) kernels_->gemm(shape, a, b, c);
}

void Device::norms(Lines lines, Buffer matrix, Buffer norms) {
  Check("norms", timeline_).lines(lines, matrix, norms);
  charge({2 * elements(matrix), bytes(matrix) + bytes(norms)});
  if (none_is_phantom(matrix, norms) && norms.count() > 0) kernels_->norms(lines, matrix, norms);
}

void Device::multiply_lines(Lines lines, Buffer factors, Buffer matrix) {
  if (combines_lines("multiply_lines", lines, factors, matrix)) kernels_->multiply_lines(lines, factors, matrix);
}

void Device::divide_lines(Lines lines, Buffer divisors, Buffer matrix) {
  if (combines_lines("divide_lines", lines, divisors, matrix)) kernels_->divide_lines(lines, divisors, matrix);
}

bool Device::combines_lines(const char* operation, Lines lines, Buffer factors, Buffer matrix) {
  Check(operation, timeline_).lines(lines, matrix, factors);
  charge({elements(matrix), bytes(factors) + 2 * bytes(matrix)});
  return none_is_phantom(factors, matrix) && matrix.count() > 0;
}

void Device::orthonormalise(std::span<const TallMatrix> matrices) {
  const Check check("orthonormalise", timeline_);
  KernelCost cost;
  std::vector<TallMatrix> real;
  for (const TallMatrix& matrix : matrices) {
    check.type("every matrix", matrix.values, DType::f32);
    // Each of c columns meets those before it twice, at 4 operations an element, and its own length twice.
    cost.flops += elements(matrix.values) * (4 * static_cast<double>(matrix.modelled_columns) + 1);
    cost.bytes += 2 * bytes(matrix.values);
    if (matrix.values.is_phantom() || matrix.values.count() == 0) continue;
    check.tall(matrix.values, matrix.columns);
    real.push_back(matrix);
  }
  charge(cost);
  if (!real.empty()) kernels_->orthonormalise(real);
}

void Device::sgd(std::span<const SgdTensor> tensors, const SgdConstants& constants) {
  const Check check("sgd", timeline_);
  const bool momentum = constants.momentum != 0.0F;
  KernelCost cost;
  bool real = true;
  for (const SgdTensor& tensor : tensors) {
    check.type("the weights", tensor.weights, DType::f32);
    check.alike(tensor.gradients, tensor.weights);
    if (momentum) check.alike(tensor.velocity, tensor.weights);
    cost.flops += (momentum ? 6 : 4) * elements(tensor.weights);
    cost.bytes += (momentum ? 5 : 3) * bytes(tensor.weights);
    real &= none_is_phantom(tensor.weights, tensor.gradients) && !(momentum && tensor.velocity.is_phantom());
  }
  charge(cost);
  if (real) kernels_->sgd(tensors, constants);
}

void Device::adam(std::span<const AdamTensor> tensors, const AdamConstants& constants) {
  const Check check("adam", timeline_);
  if (constants.step < 1) check.fail("steps count from 1, got " + std::to_string(constants.step));
  KernelCost cost;
  bool real = true;
  for (const AdamTensor& tensor : tensors) {
    check.type("the weights", tensor.weights, DType::f32);
    for (const Buffer& other : {tensor.gradients, tensor.first, tensor.second}) {
      check.alike(other, tensor.weights);
    }
    cost.flops += 14 * elements(tensor.weights);
    cost.bytes += 7 * bytes(tensor.weights);
    real &= none_is_phantom(tensor.weights, tensor.gradients, tensor.first, tensor.second);
  }
  charge(cost);
  if (real) kernels_->adam(tensors, constants);
}

}  // namespace trigram
