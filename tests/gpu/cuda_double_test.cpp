// The double of CUDA finds what a GPU would forgive, or answer with wrong bytes; and all that trains passes it.
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/step/algorithm.hpp"
#include "core/step/workload.hpp"
#include "core/training/training.hpp"
#include "core/values/error.hpp"
#include "kernels/cuda/kernels.hpp"
#include "ptx/runtime/control.hpp"

namespace trigram::testing::cuda_double_test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// A stream whose work waits until it is let go.
class HeldStream {
 public:
  HeldStream() {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    hold();
  }
  ~HeldStream() {
    finish();
    cudaStreamDestroy(stream_);
  }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;

  cudaStream_t get() const { return stream_; }
  void hold() {
    open_ = false;
    cudaLaunchHostFunc(stream_, wait, &open_);
  }
  void finish() {
    open_ = true;
    cudaStreamSynchronize(stream_);
  }

 private:
  static void wait(void* open) {
    while (!*static_cast<std::atomic<bool>*>(open)) std::this_thread::yield();
  }

  std::atomic<bool> open_{false};
  cudaStream_t stream_ = nullptr;
};

constexpr std::size_t bytes = 64;

std::byte* memory_of(cudaStream_t stream) {
  std::byte* memory = nullptr;
  cudaMallocAsync(&memory, bytes, stream);
  return memory;
}

class CudaDouble : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(cuda_on_host::take_misuse(), ""); }
};

TEST_F(CudaDouble, FindsHostMemoryThatEndsBeforeTheCopyFromIt) {
  for (const bool pinned : {false, true}) {
    std::vector<std::byte> pageable(bytes);
    std::byte* host = pageable.data();
    if (pinned) cudaMallocHost(&host, bytes);
    HeldStream stream;
    cudaMemcpyAsync(memory_of(stream.get()), host, bytes, cudaMemcpyHostToDevice, stream.get());
    host[bytes - 1] = std::byte{1};
    stream.finish();
    EXPECT_THAT(cuda_on_host::take_misuse(), HasSubstr("host memory had ended or changed before the copy")) << pinned;
    if (pinned) cudaFreeHost(host);
  }
}

__global__ void touch(std::byte* memory) { *memory = std::byte{}; }

TEST_F(CudaDouble, FindsWhatUsesFreedMemory) {
  using Use = void (*)(std::byte*, cudaStream_t);
  const std::vector<std::pair<Use, const char*>> uses = {
      {[](std::byte* freed, cudaStream_t stream) { cudaMemsetAsync(freed, 0, bytes, stream); },
       "cudaMemsetAsync touches"},
      {[](std::byte* freed, cudaStream_t stream) {
         cudaMemcpyAsync(freed, memory_of(stream), bytes, cudaMemcpyDeviceToDevice, stream);
       },
       "a copy to the device touches 64 bytes"},
      {[](std::byte* freed, cudaStream_t stream) {
         void* arguments[] = {&freed};
         cudaLaunchKernel(touch, dim3(1), dim3(32), arguments, 0, stream);
       },
       "a kernel uses device memory that had been freed"},
      {[](std::byte* freed, cudaStream_t stream) {
         cudaStreamSynchronize(stream);
         freed[0] = std::byte{};
       },
       "device memory was written to after it had been freed"},
      {[](std::byte* freed, cudaStream_t stream) {
         cudaStreamSynchronize(stream);
         freed[bytes - 1] = std::byte{};
       },
       "device memory was written to after it had been freed"}};
  for (const auto& [use, words] : uses) {
    HeldStream stream;
    std::byte* const memory = memory_of(stream.get());
    stream.finish();
    cudaFreeAsync(memory, stream.get());
    use(memory, stream.get());
    stream.finish();
    EXPECT_THAT(cuda_on_host::take_misuse(), HasSubstr(words));
  }
}

TEST_F(CudaDouble, GivesMemoryInTheOrderOfItsStream) {
  HeldStream owner;
  std::byte* const memory = memory_of(owner.get());
  {
    HeldStream other;  // which does not wait for the owner
    cudaMemsetAsync(memory, 1, bytes, other.get());
  }
  owner.finish();
  EXPECT_THAT(std::vector<std::byte>(memory, memory + bytes), Each(std::byte{0xCD}));
}

/// More than there are pieces of pinned memory for, before the first has been copied.
TEST_F(CudaDouble, LetsUploadsThroughThatWaitForTheirMemory) {
  HeldStream stream;
  stream.finish();
  const auto kernels = cuda_kernels(stream.get());  // which waits for the whole device
  constexpr int pieces = 9;
  auto* memory = static_cast<std::byte*>(kernels->allocate(pieces));
  stream.hold();
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stream.finish();
  });
  std::vector<std::byte> expected, arrived(pieces);
  for (int piece = 0; piece < pieces; ++piece) {
    expected.push_back(static_cast<std::byte>(piece));
    kernels->upload(std::span(expected).last(1), Buffer(memory + piece, Shape::of(1, DType::u8)));
  }
  opener.join();
  EXPECT_EQ(cuda_on_host::take_misuse(), "");
  kernels->download(Buffer(memory, Shape::of(pieces, DType::u8)), arrived);
  EXPECT_EQ(arrived, expected);
  kernels->release(memory);
}

TEST_F(CudaDouble, FindsWhatWaitsForTheWholeDevice) {
  std::vector<std::byte> host(bytes);
  HeldStream stream;
  stream.finish();
  std::byte* const memory = memory_of(stream.get());
  void* more = nullptr;
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"cudaDeviceSynchronize", [] { cudaDeviceSynchronize(); }},
      {"cudaMalloc", [&] { cudaMalloc(&more, bytes); }},
      {"cudaHostAlloc", [&] { cudaMallocHost(&more, bytes); }},
      {"cudaFree ", [&] { cudaFree(memory); }},
      {"not pinned", [&] { cudaMemcpyAsync(host.data(), memory, bytes, cudaMemcpyDeviceToHost, stream.get()); }},
      {"without a stream", [&] { cudaMemcpyAsync(memory, memory, bytes, cudaMemcpyDeviceToDevice, nullptr); }},
      {"a kernel without a stream", [&] {
         std::byte* argument = memory;
         void* arguments[] = {&argument};
         cudaLaunchKernel(touch, dim3(1), dim3(32), arguments);
       }}};
  for (const auto& [words, call] : calls) {
    {
      const cuda_on_host::NoDeviceWideCalls quiet;
      call();
    }
    EXPECT_THAT(cuda_on_host::take_misuse(), HasSubstr(words));
  }
}

/// The workload `quadratic`, during whose steps nothing may wait for the whole device.
class QuietSteps final : public Workload {
 public:
  void open(const Shard& shard) override { inner_->open(shard); }
  std::vector<Parameter> parameters() const override { return inner_->parameters(); }
  int layers() const override { return inner_->layers(); }
  bool phantom() const override { return inner_->phantom(); }
  std::int64_t global_batch() const override { return inner_->global_batch(); }
  std::int64_t local_batch() const override { return inner_->local_batch(); }
  double memory() const override { return inner_->memory(); }
  std::string description() const override { return inner_->description(); }
  void setup(Worker& worker, std::span<const ParameterView> parameters) override { inner_->setup(worker, parameters); }
  void forward(Worker& worker) override {
    if (!quiet_) quiet_.emplace();
    inner_->forward(worker);
  }
  void backward(Worker& worker, int layer) override { inner_->backward(worker, layer); }
  Buffer loss() const override { return inner_->loss(); }
  std::optional<double> objective(Device& device, const HostWeights& weights) override {
    return inner_->objective(device, weights);
  }
  double accuracy(Device& device, const HostWeights& weights) override { return inner_->accuracy(device, weights); }

 private:
  std::unique_ptr<Workload> inner_ = Workloads::make("quadratic:dimension=4133,layers=3");
  std::optional<cuda_on_host::NoDeviceWideCalls> quiet_;
};

const Workloads::Registration registration("test/quiet_steps", {"quadratic, whose steps wait for no whole device"},
                                           [](Params&) { return std::make_unique<QuietSteps>(); });

class QuietTraining : public ::testing::TestWithParam<std::string> {};

TEST_P(QuietTraining, WaitsForTheDeviceInNoStep) {
  TrainingOptions options;
  options.algorithm = GetParam();
  options.workload = "test/quiet_steps";
  options.steps = 6;
  options.evaluate_every = 3;
  World world;
  world.ranks = 2;
  world.bucket_lanes = 2;
  try {
    run_training(*Backends::make("gpu:timeout=60s,ranks_per_node=1"), world, options);
  } catch (const UsageError& refused) {
    GTEST_SKIP() << refused.what();
  }
}

std::vector<std::string> shipped() {
  std::vector<std::string> names = Algorithms::own_names();
  std::erase_if(names, [](const std::string& name) { return name.find('/') != std::string::npos; });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Everywhere, QuietTraining, ::testing::ValuesIn(shipped()),
                         [](const auto& algorithm) { return algorithm.param; });

}  // namespace
}  // namespace trigram::testing::cuda_double_test
