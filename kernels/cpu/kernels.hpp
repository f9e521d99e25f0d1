// Arithmetic on host memory, on one core.
#pragma once

#include <memory>
#include <span>

#include "core/device/kernels.hpp"
#include "kernels/cpu/vectorised.hpp"

namespace trigram {

/// Kernels of kind "cpu": stateless, so one object may serve every rank and thread.
class CpuKernels : public Kernels {
 public:
  explicit CpuKernels(Instructions instructions) : instructions_(instructions) {}
  /// What codecs and operations run with; the bits do not depend on it.
  Instructions instructions() const { return instructions_; }

  std::string_view kind() const override { return "cpu"; }

  void* allocate(std::size_t bytes) override;
  void* allocate_unfilled(std::size_t bytes) override;
  void release(void* address) override;
  void upload(std::span<const std::byte> from, Buffer to) override;
  void download(Buffer from, std::span<std::byte> to) override;
  void synchronize() override {}

  void copy(Buffer from, Buffer to) override;
  void fill(Buffer x, double value) override;
  void fill_normal(Buffer x, const Key& key) override;
  void reduce(ReduceOp op, Buffer x, Buffer y) override;
  void weighted_sum(std::span<const Buffer> x, std::span<const float> weights, Buffer y) override;
  void convert(Buffer x, Buffer y) override;
  void dot(Buffer x, Buffer y, Buffer result) override;

  void gemm(const GemmShape& shape, Buffer a, Buffer b, Buffer c) override;
  void norms(Lines lines, Buffer matrix, Buffer norms) override;
  void orthonormalise(std::span<const TallMatrix> matrices) override;

 private:
  Instructions instructions_;
};

/// The instructions that kernels of kind "cpu" run with.
inline Instructions instructions_of(Kernels& kernels) { return dynamic_cast<CpuKernels&>(kernels).instructions(); }

/// The kernels of this processor, with its widest instructions.
std::shared_ptr<Kernels> cpu_kernels();

}  // namespace trigram
