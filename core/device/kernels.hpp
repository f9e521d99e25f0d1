// The arithmetic that a kind of device must bring. Device checks, charges and dispatches; Kernels compute.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/values/buffer.hpp"
#include "core/values/key.hpp"

namespace trigram {

/// How two values become one. `mean` is a sum, divided once at the end by the number of ranks.
enum class ReduceOp : std::uint8_t { sum, mean, min, max };

/// A row-major matrix product C = alpha op(A) op(B) + beta C, op(A) of m×k, op(B) of k×n.
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  float alpha = 1.0F, beta = 0.0F;
};

/// A row-major matrix with no more columns than rows.
struct TallMatrix {
  Buffer values;
  std::int64_t columns = 0;
  std::int64_t modelled_columns = 0;  ///< of the modelled matrix
};

/// Which runs of a row-major matrix an operation goes by.
enum class Lines : std::uint8_t { rows, columns };

/// Plain arithmetic on memory of one kind. Implementations are reached through Device, which has checked
/// every shape and type; no argument is ever a phantom. Sums and norms use one fixed tree, so results
/// depend on neither address, vector width nor thread count.
class Kernels {
 public:
  virtual ~Kernels() = default;

  /// "cpu" or "cuda": codecs and operations register as "cpu/minmax_uint8", "cpu/conv2d".
  virtual std::string_view kind() const = 0;

  virtual void* allocate(std::size_t bytes) = 0;  ///< zero-filled
  virtual void* allocate_unfilled(std::size_t bytes) = 0;
  virtual void release(void* address) = 0;
  virtual void upload(std::span<const std::byte> from, Buffer to) = 0;
  virtual void download(Buffer from, std::span<std::byte> to) = 0;
  virtual void synchronize() = 0;

  virtual void copy(Buffer from, Buffer to) = 0;
  virtual void fill(Buffer x, double value) = 0;
  virtual void fill_normal(Buffer x, const Key& key) = 0;
  virtual void reduce(ReduceOp op, Buffer x, Buffer y) = 0;  // y = op(y, x), any dtype
  virtual void weighted_sum(std::span<const Buffer> x, std::span<const float> weights, Buffer y) = 0;
  virtual void convert(Buffer x, Buffer y) = 0;             // between f32, f16, bf16, nearest even
  virtual void dot(Buffer x, Buffer y, Buffer result) = 0;  // one f32, fixed tree

  virtual void gemm(const GemmShape& shape, Buffer a, Buffer b, Buffer c) = 0;
  /// norms[i] = √Σ x² over line i, by the fixed tree; there is at least one line.
  virtual void norms(Lines lines, Buffer matrix, Buffer norms) = 0;
  /// None of the matrices is empty.
  virtual void orthonormalise(std::span<const TallMatrix> matrices) = 0;
};

}  // namespace trigram
