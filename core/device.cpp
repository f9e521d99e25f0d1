// Checks, charges and dispatches every operation of a Device.
#include "core/device.hpp"

#include <cmath>
#include <string>

#include "core/codec.hpp"
#include "core/error.hpp"

namespace trigram {
namespace {

/// Says what a buffer is when a message asks.
auto words(const Buffer& x) {
  return [&x] { return std::to_string(x.count()) + " elements of " + std::string(name_of(x.dtype())); };
}

bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

void ensure_floating(const char* operation, const Buffer& x) {
  ensure(is_floating(x.dtype()), operation, ": works on f32, f16 and bf16, got ", words(x));
}

void ensure_type(const char* operation, const char* what, const Buffer& x, DType dtype) {
  ensure(x.dtype() == dtype, operation, ": ", what, " must be ", name_of(dtype), ", got ", words(x));
}

void ensure_count(const char* operation, const char* what, const Buffer& x, std::int64_t count) {
  ensure(x.count() == count, operation, ": ", what, " must have ", count, " elements, got ", words(x));
}

void ensure_alike(const char* operation, const Buffer& x, const Buffer& y) {
  ensure(x.count() == y.count() && x.dtype() == y.dtype(), operation, ": ", words(x), " do not fit ", words(y),
         "; they must be alike");
}

void ensure_index(const char* operation, const char* what, const Buffer& x) {
  ensure(x.dtype() == DType::i32 || x.dtype() == DType::i64, operation, ": ", what, " must be i32 or i64, got ",
         words(x));
}

/// A matrix of `rows` rows has a whole number of columns.
void ensure_rows(const char* operation, const Buffer& matrix, std::int64_t rows) {
  ensure(rows == 0 ? matrix.count() == 0 : matrix.count() % rows == 0, operation, ": ", words(matrix), " are no ", rows,
         " equal rows");
}

template <class... Buffers>
bool none_is_phantom(const Buffers&... buffers) {
  return !(buffers.is_phantom() || ...);
}

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
  ensure(static_cast<std::int64_t>(from.size()) == to.bytes(), "upload: ", from.size(), " bytes do not fill ",
         words(to));
  if (to.count() > 0) kernels_->upload(from, to);
}

void Device::download(Buffer from, std::span<std::byte> to) {
  ensure(!from.is_phantom(), "download: a phantom buffer has no data to look at");
  ensure(static_cast<std::int64_t>(to.size()) == from.bytes(), "download: ", words(from), " do not fill ", to.size(),
         " bytes");
  if (from.count() > 0) kernels_->download(from, to);
}

void Device::fused(Activity activity, const char* name, const std::function<void()>& operations) {
  ensure(fused_ == nullptr, "fused kernels do not nest");
  const Timeline::Scope scope(timeline_, activity, name);
  KernelCost cost;
  fused_ = &cost;
  try {
    operations();
  } catch (...) {
    fused_ = nullptr;
    throw;
  }
  fused_ = nullptr;
  charge(cost);
}

void Device::copy(Buffer from, Buffer to) {
  ensure_alike("copy", from, to);
  charge({0, bytes(from) + bytes(to)});
  if (none_is_phantom(from, to) && to.count() > 0) kernels_->copy(from, to);
}

void Device::fill(Buffer x, double value) {
  charge({0, bytes(x)});
  if (none_is_phantom(x) && x.count() > 0) kernels_->fill(x, value);
}

void Device::scale(Buffer x, float a) {
  ensure_floating("scale", x);
  charge({elements(x), 2 * bytes(x)});
  if (none_is_phantom(x) && x.count() > 0) kernels_->scale(x, a);
}

void Device::axpby(float a, Buffer x, float b, Buffer y) {
  ensure_floating("axpby", x);
  ensure_alike("axpby", x, y);
  charge({3 * elements(y), bytes(x) + 2 * bytes(y)});
  if (none_is_phantom(x, y) && y.count() > 0) kernels_->axpby(a, x, b, y);
}

void Device::reduce(ReduceOp op, Buffer x, Buffer y) {
  ensure_alike("reduce", x, y);
  charge({elements(y), bytes(x) + 2 * bytes(y)});
  if (none_is_phantom(x, y) && y.count() > 0) kernels_->reduce(op, x, y);
}

void Device::weighted_sum(std::span<const Buffer> x, std::span<const float> weights, Buffer y) {
  ensure_floating("weighted_sum", y);
  ensure(x.size() == weights.size(), "weighted_sum: ", x.size(), " buffers and ", weights.size(), " weights");
  KernelCost cost{2 * elements(y) * static_cast<double>(x.size()), bytes(y)};
  bool phantom = y.is_phantom();
  for (const Buffer& term : x) {
    ensure_alike("weighted_sum", term, y);
    cost.bytes += bytes(term);
    phantom |= term.is_phantom();
  }
  charge(cost);
  if (!phantom && y.count() > 0) kernels_->weighted_sum(x, weights, y);
}

void Device::convert(Buffer x, Buffer y) {
  ensure_floating("convert", x);
  ensure_floating("convert", y);
  ensure_count("convert", "the result", y, x.count());
  charge({elements(x), bytes(x) + bytes(y)});
  if (none_is_phantom(x, y) && y.count() > 0) kernels_->convert(x, y);
}

void Device::dot(Buffer x, Buffer y, Buffer result) {
  ensure_type("dot", "x", x, DType::f32);
  ensure_alike("dot", x, y);
  ensure_type("dot", "the result", result, DType::f32);
  ensure_count("dot", "the result", result, 1);
  charge({2 * elements(x), bytes(x) + bytes(y) + bytes(result)});
  if (none_is_phantom(x, y, result)) kernels_->dot(x, y, result);
}

void Device::gemm(const GemmShape& shape, Buffer a, Buffer b, Buffer c) {
  for (const Buffer& matrix : {a, b, c}) ensure_type("gemm", "every matrix", matrix, DType::f32);
  const bool real = none_is_phantom(a, b, c);
  if (real) {
    ensure_count("gemm", "A", a, shape.m * shape.k);
    ensure_count("gemm", "B", b, shape.k * shape.n);
    ensure_count("gemm", "C", c, shape.m * shape.n);
  }
  charge({2 * products(shape, a, b, c), bytes(a) + bytes(b) + bytes(c) * (shape.beta == 0.0F ? 1 : 2)});
  if (real && c.count() > 0) kernels_->gemm(shape, a, b, c);
}

void Device::add_bias(Buffer bias, Buffer rows) {
  ensure_type("add_bias", "the bias", bias, DType::f32);
  ensure_type("add_bias", "the matrix", rows, DType::f32);
  ensure(bias.count() == 0 ? rows.count() == 0 : rows.count() % bias.count() == 0, "add_bias: ", words(rows),
         " are no rows of ", bias.count(), " columns");
  charge({elements(rows), bytes(bias) + 2 * bytes(rows)});
  if (none_is_phantom(bias, rows) && rows.count() > 0) kernels_->add_bias(bias, rows);
}

void Device::column_sums(Buffer rows, Buffer sums) {
  ensure_type("column_sums", "the matrix", rows, DType::f32);
  ensure_type("column_sums", "the sums", sums, DType::f32);
  ensure(sums.count() == 0 ? rows.count() == 0 : rows.count() % sums.count() == 0, "column_sums: ", words(rows),
         " are no rows of ", sums.count(), " columns");
  charge({elements(rows), bytes(rows) + bytes(sums)});
  if (none_is_phantom(rows, sums) && sums.count() > 0) kernels_->column_sums(rows, sums);
}

void Device::relu(Buffer x) {
  ensure_type("relu", "x", x, DType::f32);
  charge({elements(x), 2 * bytes(x)});
  if (none_is_phantom(x) && x.count() > 0) kernels_->relu(x);
}

void Device::relu_backward(Buffer activated, Buffer gradient) {
  ensure_type("relu_backward", "the gradient", gradient, DType::f32);
  ensure_alike("relu_backward", activated, gradient);
  charge({elements(gradient), bytes(activated) + 2 * bytes(gradient)});
  if (none_is_phantom(activated, gradient) && gradient.count() > 0) kernels_->relu_backward(activated, gradient);
}

void Device::gather_rows(Buffer table, Buffer indices, Buffer rows) {
  ensure_index("gather_rows", "the indices", indices);
  ensure_type("gather_rows", "the table", table, rows.dtype());
  if (none_is_phantom(table, indices, rows)) ensure_rows("gather_rows", rows, indices.count());
  charge({0, bytes(indices) + 2 * bytes(rows)});
  if (none_is_phantom(table, indices, rows) && rows.count() > 0) kernels_->gather_rows(table, indices, rows);
}

void Device::softmax_cross_entropy(Buffer logits, Buffer labels, float weight, Buffer loss) {
  ensure_type("softmax_cross_entropy", "the logits", logits, DType::f32);
  ensure_index("softmax_cross_entropy", "the labels", labels);
  ensure_type("softmax_cross_entropy", "the loss", loss, DType::f32);
  ensure_count("softmax_cross_entropy", "the loss", loss, 1);
  const bool real = none_is_phantom(logits, labels, loss);
  if (real) ensure_rows("softmax_cross_entropy", logits, labels.count());
  charge({5 * elements(logits), 2 * bytes(logits) + bytes(labels) + bytes(loss)});
  if (real) kernels_->softmax_cross_entropy(logits, labels, weight, loss);
}

void Device::count_correct(Buffer logits, Buffer labels, Buffer correct) {
  ensure_type("count_correct", "the logits", logits, DType::f32);
  ensure_index("count_correct", "the labels", labels);
  ensure_type("count_correct", "the result", correct, DType::i64);
  ensure_count("count_correct", "the result", correct, 1);
  const bool real = none_is_phantom(logits, labels, correct);
  if (real) ensure_rows("count_correct", logits, labels.count());
  charge({elements(logits), bytes(logits) + bytes(labels) + bytes(correct)});
  if (real) kernels_->count_correct(logits, labels, correct);
}

void Device::sgd(std::span<const SgdTensor> tensors, const SgdConstants& constants) {
  const bool momentum = constants.momentum != 0.0F;
  KernelCost cost;
  bool real = true;
  for (const SgdTensor& tensor : tensors) {
    ensure_type("sgd", "the weights", tensor.weights, DType::f32);
    ensure_alike("sgd", tensor.gradients, tensor.weights);
    if (momentum) ensure_alike("sgd", tensor.velocity, tensor.weights);
    cost.flops += (momentum ? 6 : 4) * elements(tensor.weights);
    cost.bytes += (momentum ? 5 : 3) * bytes(tensor.weights);
    real &= none_is_phantom(tensor.weights, tensor.gradients) && !(momentum && tensor.velocity.is_phantom());
  }
  charge(cost);
  if (real) kernels_->sgd(tensors, constants);
}

void Device::adam(std::span<const AdamTensor> tensors, const AdamConstants& constants) {
  ensure(constants.step >= 1, "adam: steps count from 1, got ", constants.step);
  KernelCost cost;
  bool real = true;
  for (const AdamTensor& tensor : tensors) {
    ensure_type("adam", "the weights", tensor.weights, DType::f32);
    for (const Buffer& other : {tensor.gradients, tensor.first, tensor.second}) {
      ensure_alike("adam", other, tensor.weights);
    }
    cost.flops += 14 * elements(tensor.weights);
    cost.bytes += 7 * bytes(tensor.weights);
    real &= none_is_phantom(tensor.weights, tensor.gradients, tensor.first, tensor.second);
  }
  charge(cost);
  if (real) kernels_->adam(tensors, constants);
}

std::unique_ptr<Codec> Device::make_codec(std::string_view spec) {
  const std::string prefix = std::string(kind()) + "/";
  const std::string name = Spec::parse(spec).name;
  if (Codecs::has(prefix + name)) return Codecs::make(prefix + std::string(spec));
  std::vector<std::string> known;
  for (const std::string& registered : Codecs::names()) {
    if (registered.starts_with(prefix)) known.push_back(registered.substr(prefix.size()));
  }
  throw_unknown_name(Codec::registry_kind, name, known);
}

}  // namespace trigram
