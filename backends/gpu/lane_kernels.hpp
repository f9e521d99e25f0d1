// The kernels of a lane, which know when the host is enqueuing a task.
#pragma once

#include <string>

#include "kernels/cuda/kernels.hpp"

namespace trigram::gpu {

/// Set while the host runs a task: what the task enqueues runs later, so it must not ask for results.
struct BodyGuard {
  bool inside = false;
};

/// Refuses to wait inside a task. Throws Error.
class LaneKernels final : public CudaKernels {
 public:
  LaneKernels(cudaStream_t stream, const BodyGuard& guard, std::string lane)
      : CudaKernels(stream), guard_(guard), lane_(std::move(lane)) {}

  void download(Buffer from, std::span<std::byte> to) override {
    refuse_inside_a_body("download");
    CudaKernels::download(from, to);
  }
  void synchronize() override {
    refuse_inside_a_body("synchronize");
    CudaKernels::synchronize();
  }

 private:
  void refuse_inside_a_body(const char* operation) const;

  const BodyGuard& guard_;
  std::string lane_;
};

}  // namespace trigram::gpu
