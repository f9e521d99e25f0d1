// Kernels of GPUs as nvcc compiles them, interpreted here: a device that products are tried on.
#include <cuda_runtime.h>

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/conformance/tried_device.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/runtime/check.hpp"
#include "ptx/device/readable.hpp"
#include "ptx/device/told.hpp"
#include "ptx/runtime/control.hpp"
#include "ptx/runtime/nvcc/checks.hpp"
#include "ptx/runtime/nvcc/kernels.hpp"

namespace trigram {
namespace {

struct NamedSchedule {
  const char* name;
  ptx::Schedule schedule;
};
constexpr std::array<NamedSchedule, 4> schedules = {
    {{"blocks and warps in an order drawn", {.seed = 1}},
     {"the first block and its first warp ahead of all others",
      {.seed = 2, .order = ptx::Order::first_ahead, .reconvergence = ptx::Reconvergence::late}},
     {"the last block and its last warp ahead of all others", {.seed = 3, .order = ptx::Order::last_ahead}},
     {"blocks and warps in another order drawn", {.seed = 4, .reconvergence = ptx::Reconvergence::late}}}};

/// Notes whether matrices were multiplied, which every device does in an order of its own.
class NotedKernels final : public CudaKernels {
 public:
  NotedKernels(cudaStream_t stream, bool& multiplies) : CudaKernels(stream), multiplies_(multiplies) {}
  void gemm(const GemmShape& shape, Buffer a, Buffer b, Buffer c) override {
    multiplies_ = true;
    CudaKernels::gemm(shape, a, b, c);
  }

 private:
  bool& multiplies_;
};

class InterpretedGpu final : public TriedDevice {
 public:
  InterpretedGpu() {
    cuda_on_host::keep_misuses_quiet();
    cuda_on_host::check_kernels({"racecheck", "streamcheck", "initcheck"});
    cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    leaks_.take();  // the stream is not one
  }
  ~InterpretedGpu() override { static_cast<void>(cudaStreamDestroy(stream_)); }
  InterpretedGpu(const InterpretedGpu&) = delete;
  InterpretedGpu& operator=(const InterpretedGpu&) = delete;

  std::unique_ptr<Device> make(Timeline& timeline) override {
    return std::make_unique<Device>(std::make_shared<NotedKernels>(stream_, multiplies_), timeline);
  }

  int orders() const override { return static_cast<int>(schedules.size()); }
  std::string take_order(int which) override {
    const NamedSchedule& taken = schedules.at(static_cast<std::size_t>(which));
    cuda_on_host::run_kernels_by(taken.schedule);
    return taken.name;
  }

  std::string take_fault() override {
    const std::string fault = cuda_on_host::take_misuse();
    static_cast<void>(cudaGetLastError());
    const std::vector<std::string> findings = cuda_on_host::take_findings(), leaks = leaks_.take();
    return ptx::with_readable_names(fault.empty() ? ptx::most_telling(findings, leaks) : fault);
  }

  Ran take_ran() override {
    Ran ran{.may_round_otherwise = std::exchange(multiplies_, false)};
    std::set<std::string> fused;
    for (const ptx::Kernel* kernel : cuda_on_host::take_launched_kernels()) {
      for (const ptx::Instruction& one : kernel->code) {
        if (one.text.find(".approx") != std::string::npos) ran.may_round_otherwise = true;
        if (one.text.starts_with("fma.")) fused.insert(ptx::source_text(one.place));
      }
    }
    ran.fused_multiply_adds = some_of(fused);
    return ran;
  }

 private:
  static std::string some_of(const std::set<std::string>& places) {
    constexpr std::size_t most = 3;
    std::string text;
    std::size_t said = 0;
    for (const std::string& place : places) {
      if (said++ == most) return text + " and " + std::to_string(places.size() - most) + " more";
      text += (text.empty() ? "" : ", ") + place;
    }
    return text;
  }

  cudaStream_t stream_ = nullptr;
  ptx::NewLeaks leaks_;
  bool multiplies_ = false;
};

const TriedDevices::Registration registration("ptx", {"kernels of GPUs as nvcc compiles them, interpreted here"},
                                              [](Params&) { return std::make_unique<InterpretedGpu>(); });

}  // namespace
}  // namespace trigram
