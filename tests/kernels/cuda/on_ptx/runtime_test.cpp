// What the runtime holds a kernel to, by kernels that do one wrong thing each.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ptx/runtime/control.hpp"
#include "tests/kernels/cuda/on_ptx/registered.hpp"

namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using trigram::on_ptx::Registered;

/// Each thread writes its number behind an address.
constexpr char number_threads[] = R"(.version 8.0
.target sm_75
.address_size 64
.file 1 "numbers.cu"
.visible .entry number_threads(.param .u64 number_threads_param_0)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [number_threads_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  .loc 1 7 3
  st.global.u32 [%rd4], %r1;
  ret;
}
)";

class RuntimeOnPtx : public testing::Test {
 protected:
  ~RuntimeOnPtx() override {
    cuda_on_host::take_misuse();
    static_cast<void>(cudaGetLastError());
  }
  void* allocate(std::size_t bytes) {
    void* address = nullptr;
    EXPECT_EQ(cudaMalloc(&address, bytes), cudaSuccess);
    return address;
  }
  /// What is said of a thread's store, with where its address lies.
  static auto told(const std::string& where, int thread) {
    return ContainsRegex(
        "memcheck: invalid global write of 4 bytes at address 0x[0-9a-f]+, " + where +
        " at 'st.global.u32 .%rd4., %r1' of kernel number_threads, numbers.cu:7 .line [0-9]+ of the PTX., "
        "in block .0,0,0., thread ." +
        std::to_string(thread) + ",0,0.");
  }
  static const Registered& numbering() {
    static const auto* const the = new Registered(number_threads, "number_threads");
    return *the;
  }
};

TEST_F(RuntimeOnPtx, RunsAKernel) {
  void* const memory = allocate(160);
  ASSERT_EQ(numbering().launch(memory, 40), cudaSuccess);
  std::uint32_t numbers[40];
  ASSERT_EQ(cudaMemcpy(numbers, memory, sizeof numbers, cudaMemcpyDeviceToHost), cudaSuccess);
  for (std::uint32_t thread = 0; thread < 40; ++thread) EXPECT_EQ(numbers[thread], thread);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(RuntimeOnPtx, NamesTheAllocationThatAKernelLeaves) {
  void* const memory = allocate(156);
  EXPECT_EQ(numbering().launch(memory, 40), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress) << "the device is of no more use";
  EXPECT_THAT(cuda_on_host::take_misuse(),
              told("0 bytes behind the 156 bytes at 0x[0-9a-f]+ of device 0, allocation [0-9]+", 39));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(RuntimeOnPtx, NamesTheAllocationThatWasFreed) {
  void* const memory = allocate(400);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(numbering().launch(static_cast<char*>(memory) + 8, 1), cudaErrorIllegalAddress);
  EXPECT_THAT(cuda_on_host::take_misuse(),
              told("byte 8 of 400 bytes at 0x[0-9a-f]+ of device 0, allocation [0-9]+, which were freed", 0));
}

TEST_F(RuntimeOnPtx, RefusesTheMemoryOfAnotherDevice) {
  cuda_on_host::set_device_count(2);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  void* const memory = allocate(4);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(numbering().launch(memory, 1), cudaErrorIllegalAddress);
  EXPECT_THAT(cuda_on_host::take_misuse(), told("byte 0 of 4 bytes at 0x[0-9a-f]+ of device 1, allocation [0-9]+", 0));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  cuda_on_host::set_device_count(1);
}

TEST_F(RuntimeOnPtx, TakesPinnedMemoryOfTheHostAlone) {
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 4), cudaSuccess);
  EXPECT_EQ(numbering().launch(pinned, 1), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  std::uint32_t number = 0;
  EXPECT_EQ(numbering().launch(&number, 1), cudaErrorIllegalAddress);
  EXPECT_THAT(cuda_on_host::take_misuse(), HasSubstr("no memory of device 0"));
}

TEST_F(RuntimeOnPtx, SaysWhatAnObjectLacks) {
  const Registered compressed("\x28\xb5\x2f\xfd", "squeezed");
  EXPECT_EQ(compressed.launch(nullptr, 1), cudaErrorIllegalAddress);
  EXPECT_THAT(cuda_on_host::take_misuse(), HasSubstr("compile it with nvcc's --no-compress"));
}

}  // namespace
