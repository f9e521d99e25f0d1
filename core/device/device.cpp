// Checks, charges and dispatches every operation of a Device.
#include "core/device/device.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/values/error.hpp"

namespace trigram {
namespace {

std::string elements_of(const Buffer& x) {
  return std::to_string(x.count()) + " elements of " + std::string(name_of(x.dtype()));
}

/// One f32, which may stand for as many as another buffer has.
bool is_scalar(const Buffer& x) { return x.dtype() == DType::f32 && x.modelled_count() == 1; }

/// Checks the arguments of one operation; whose error it is and where, is said only when there is one.
class Check {
 public:
  Check(std::string_view operation, const Timeline& timeline) : operation_(operation), timeline_(timeline) {}

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
  /// The operands are those of a rule, of its types and as long as its last one.
  void fits(const RuleShape& rule, std::span<const double> scalars, std::span<const Buffer> operands) const {
    if (scalars.size() != rule.scalars || operands.size() != rule.operands.size())
      fail("takes " + std::to_string(rule.operands.size()) + " vectors and " + std::to_string(rule.scalars) +
           " numbers, got " + std::to_string(operands.size()) + " and " + std::to_string(scalars.size()));
    const Buffer& changed = operands.back();
    typed(rule.types, changed);
    for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
      const Operand use = rule.operands[i];
      if (use == Operand::one && !is_scalar(operands[i]))
        fail("its factor has " + std::to_string(operands[i].count()) + " elements where one f32 is wanted");
      if (use != Operand::one && !(use == Operand::one_or_all && is_scalar(operands[i]))) alike(operands[i], changed);
    }
  }
  void typed(ElementTypes types, const Buffer& x) const {
    if (types == ElementTypes::whole) return whole(x);
    types == ElementTypes::f32 ? type("each vector", x, DType::f32) : floating(x);
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
    throw Error((where.empty() ? "" : where + ": ") + std::string(operation_) + ": " + problem);
  }

 private:
  std::string_view operation_;
  const Timeline& timeline_;
};

template <class... Buffers>
bool none_is_phantom(const Buffers&... buffers) {
  return !(buffers.is_phantom() || ...);
}

double elements(const Buffer& x) { return static_cast<double>(x.modelled_count()); }
double bytes(const Buffer& x) { return static_cast<double>(x.modelled_bytes()); }

/// How often a rule moves what it is given; one f32 for all is not counted where it can be nothing else.
double traffic(Operand use) { return use == Operand::one ? 0 : use == Operand::changed ? 2 : 1; }

KernelCost cost_of(const RuleShape& rule, std::span<const Buffer> operands) {
  KernelCost cost{rule.flops * elements(operands.back()), 0};
  for (std::size_t i = 0; i < operands.size(); ++i) cost.bytes += traffic(rule.operands[i]) * bytes(operands[i]);
  return cost;
}

bool computes(std::span<const Buffer> operands) {
  return operands.back().count() > 0 && std::ranges::none_of(operands, &Buffer::is_phantom);
}

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

void Device::apply(const Rule& rule, std::span<const double> scalars, std::span<const Buffer> operands) {
  const RuleShape& shape = rule.shape();
  Check(shape.name, timeline_).fits(shape, scalars, operands);
  charge(cost_of(shape, operands));
  if (computes(operands)) rule.run(*kernels_, scalars, operands);
}

void Device::apply(const Rule& rule, const TwoScalars& scalars, std::span<const RulePart> parts) {
  const RuleShape& shape = rule.shape();
  const Check check(shape.name, timeline_);
  KernelCost cost;
  std::vector<RulePart> real;
  real.reserve(parts.size());
  for (const RulePart& part : parts) {
    check.fits(shape, part.takes_second ? scalars.second : scalars.first, part.operands);
    const KernelCost own = cost_of(shape, part.operands);
    cost.flops += own.flops;
    cost.bytes += own.bytes;
    if (computes(part.operands)) real.push_back(part);
  }
  charge(cost);
  if (!real.empty()) rule.run_parts(*kernels_, scalars, real);
}

void Device::divide_whole(Buffer x, std::int64_t divisor) {
  ensure(divisor >= 1, "divide_whole: ", divisor, " is less than 1");
  apply(rules_.divide_whole, {static_cast<double>(divisor)}, {x});
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

void Device::apply_by_lines(const Rule& rule, const char* operation, Lines lines, Buffer factors, Buffer matrix) {
  Check(operation, timeline_).lines(lines, matrix, factors);
  charge({rule.shape().flops * elements(matrix), bytes(factors) + 2 * bytes(matrix)});
  if (none_is_phantom(factors, matrix) && matrix.count() > 0) rule.run_by_lines(*kernels_, lines, factors, matrix);
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

}  // namespace trigram
