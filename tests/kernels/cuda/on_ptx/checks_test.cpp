// What is checked of launches and calls beside what a kernel may do, by programs that do one wrong thing each.
#include "ptx/runtime/nvcc/checks.hpp"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/values/error.hpp"
#include "ptx/runtime/control.hpp"
#include "tests/kernels/cuda/on_ptx/registered.hpp"

namespace trigram::on_ptx {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Each thread adds one to its word behind an address.
constexpr char increment[] = R"(.version 8.0
.target sm_75
.address_size 64
.file 1 "adds.cu"
.visible .entry increment(.param .u64 words)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [words];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  .loc 1 5 3
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";

const Registered& incrementing() {
  static const auto* const the = new Registered(increment, "increment");
  return *the;
}

class ChecksOnPtx : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("KERNELS_ON_PTX_CHECKS") != nullptr) GTEST_SKIP() << "all suites are checked already";
    live_before_ = cuda_on_host::leaks().size();
  }
  ~ChecksOnPtx() override {
    cuda_on_host::check_no_longer();
    cuda_on_host::take_findings();
    cuda_on_host::take_misuse();
    static_cast<void>(cudaGetLastError());
  }

  /// What was not there before the test began.
  std::vector<std::string> leaks() const {
    auto all = cuda_on_host::leaks();
    return all.size() == live_before_ ? std::vector<std::string>{} : all;
  }

 private:
  std::size_t live_before_ = 0;
};

struct Memory {
  explicit Memory(std::size_t bytes) { EXPECT_EQ(cudaMalloc(&address, bytes), cudaSuccess); }
  ~Memory() { EXPECT_EQ(cudaFree(address), cudaSuccess); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* address = nullptr;
};

struct Stream {
  Stream() { EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess); }
  ~Stream() { EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t stream = nullptr;
};

TEST_F(ChecksOnPtx, RefusesACheckThatThereIsNot) {
  EXPECT_THROW(cuda_on_host::check_kernels({"racecheck", "leakcheck"}), UsageError);
}

TEST_F(ChecksOnPtx, InitcheckFindsMemoryThatNobodyWrote) {
  cuda_on_host::check_kernels({"initcheck"});
  const Memory memory(400);
  ASSERT_EQ(cudaMemset(memory.address, 0, 40), cudaSuccess);
  ASSERT_EQ(incrementing().launch(memory.address, 10), cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(), IsEmpty());
  ASSERT_EQ(incrementing().launch(memory.address, 11), cudaSuccess);
  EXPECT_THAT(
      cuda_on_host::take_findings(),
      ElementsAre(AllOf(HasSubstr("initcheck: uninitialized global read of 4 bytes at address 0x"),
                        HasSubstr("byte 40 of 400 bytes at 0x"), HasSubstr("of device 0, allocation "),
                        HasSubstr("of kernel increment, adds.cu:5 "), HasSubstr("in block (0,0,0), thread (10,0,0)"))));
}

TEST_F(ChecksOnPtx, InitcheckFollowsCopies) {
  cuda_on_host::check_kernels({"initcheck"});
  const Memory from(400), to(400);
  const std::vector<char> host(400);
  ASSERT_EQ(cudaMemcpy(from.address, host.data(), 200, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(to.address, from.address, 400, cudaMemcpyDeviceToDevice), cudaSuccess);
  ASSERT_EQ(incrementing().launch(to.address, 50), cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(), IsEmpty());
  ASSERT_EQ(incrementing().launch(to.address, 51), cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(), ElementsAre(HasSubstr("byte 200 of 400 bytes")));
}

TEST_F(ChecksOnPtx, InitcheckFindsWhatTheHostReadsBack) {
  cuda_on_host::check_kernels({"initcheck"});
  const Memory memory(400);
  std::vector<char> host(400);
  ASSERT_EQ(cudaMemset(memory.address, 0, 396), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(host.data(), memory.address, 396, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(), IsEmpty());
  ASSERT_EQ(cudaMemcpy(host.data(), memory.address, 400, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_THAT(
      cuda_on_host::take_findings(),
      ElementsAre(HasSubstr("copies 400 bytes to the host, and nobody has written byte 396 of 400 bytes at 0x")));
}

TEST_F(ChecksOnPtx, InitcheckTakesMemoryThatIsAllocatedAnewAsUnwritten) {
  cuda_on_host::check_kernels({"initcheck"});
  for (int round = 0; round < 2; ++round) {
    const Memory memory(400);
    ASSERT_EQ(incrementing().launch(memory.address, 1), cudaSuccess);
    EXPECT_THAT(cuda_on_host::take_findings(), Not(IsEmpty()));
  }
}

TEST_F(ChecksOnPtx, StreamcheckFindsTwoStreamsThatNothingOrders) {
  cuda_on_host::check_kernels({"streamcheck"});
  const Memory memory(400);
  const Stream one, other;
  ASSERT_EQ(incrementing().launch(memory.address, 8, one.stream), cudaSuccess);
  ASSERT_EQ(incrementing().launch(memory.address, 8, other.stream), cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(),
              ElementsAre(AllOf(HasSubstr("streamcheck: write after write hazard at byte 0 of 400 bytes at 0x"),
                                HasSubstr("no event and no wait orders kernel increment on stream "),
                                HasSubstr(", and kernel increment on stream "))));
}

TEST_F(ChecksOnPtx, StreamcheckFindsACopyThatDoesNotWait) {
  cuda_on_host::check_kernels({"streamcheck"});
  const Memory memory(400), elsewhere(400);
  const Stream one, other;
  ASSERT_EQ(incrementing().launch(memory.address, 8, one.stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(elsewhere.address, memory.address, 400, cudaMemcpyDeviceToDevice, other.stream),
            cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(),
              ElementsAre(AllOf(HasSubstr("read after write"), HasSubstr("cudaMemcpyAsync on stream"))));
}

TEST_F(ChecksOnPtx, StreamcheckFindsAKernelThatDoesNotWaitForACopy) {
  cuda_on_host::check_kernels({"streamcheck"});
  const Memory memory(400), elsewhere(400);
  const Stream one, other;
  ASSERT_EQ(cudaMemcpyAsync(elsewhere.address, memory.address, 400, cudaMemcpyDeviceToDevice, one.stream), cudaSuccess);
  ASSERT_EQ(incrementing().launch(memory.address, 8, other.stream), cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(),
              ElementsAre(AllOf(HasSubstr("write after read"), HasSubstr("kernel increment on stream"))));
}

TEST_F(ChecksOnPtx, StreamcheckTakesEventsAndWaits) {
  cuda_on_host::check_kernels({"streamcheck"});
  const Memory memory(400);
  const Stream one, other, third;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(incrementing().launch(memory.address, 8, one.stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, one.stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other.stream, event, 0), cudaSuccess);
  ASSERT_EQ(incrementing().launch(memory.address, 8, other.stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(other.stream), cudaSuccess);
  ASSERT_EQ(incrementing().launch(memory.address, 8, third.stream), cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(), IsEmpty());
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

/// What was ordered behind the record is not what the event stands for.
TEST_F(ChecksOnPtx, StreamcheckFindsAnEventThatWasRecordedTooSoon) {
  cuda_on_host::check_kernels({"streamcheck"});
  const Memory memory(400);
  const Stream one, other;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, one.stream), cudaSuccess);
  ASSERT_EQ(incrementing().launch(memory.address, 8, one.stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other.stream, event, 0), cudaSuccess);
  ASSERT_EQ(incrementing().launch(memory.address, 8, other.stream), cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(), Not(IsEmpty()));
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(ChecksOnPtx, StreamcheckLetsStreamsShareAnAllocation) {
  cuda_on_host::check_kernels({"streamcheck"});
  const Memory memory(400);
  const Stream one, other;
  ASSERT_EQ(incrementing().launch(memory.address, 8, one.stream), cudaSuccess);
  ASSERT_EQ(incrementing().launch(static_cast<char*>(memory.address) + 32, 8, other.stream), cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(), IsEmpty());
}

TEST_F(ChecksOnPtx, StreamcheckFindsMemoryThatAnotherStreamFreed) {
  cuda_on_host::check_kernels({"streamcheck"});
  const Stream one, other;
  void* address = nullptr;
  ASSERT_EQ(cudaMallocAsync(&address, 400, one.stream), cudaSuccess);
  ASSERT_EQ(incrementing().launch(address, 8, one.stream), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(address, other.stream), cudaSuccess);
  EXPECT_THAT(cuda_on_host::take_findings(), Contains(HasSubstr("cudaFreeAsync on stream")));
}

TEST_F(ChecksOnPtx, SaysWhatIsLeft) {
  ASSERT_THAT(leaks(), IsEmpty());
  void *memory = nullptr, *pinned = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 400), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 30), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_THAT(leaks(), AllOf(Contains(AllOf(HasSubstr("memcheck: leaked 400 bytes at 0x"), HasSubstr("allocation "),
                                            HasSubstr("kernels had been launched"))),
                             Contains(HasSubstr("leaked 30 bytes")), Contains(HasSubstr("leaked stream ")),
                             Contains(HasSubstr("leaked event "))));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_THAT(leaks(), IsEmpty());
}

TEST_F(ChecksOnPtx, AMisalignedAccessNamesItsAllocation) {
  const Memory memory(400);
  EXPECT_EQ(incrementing().launch(static_cast<char*>(memory.address) + 6, 1), cudaErrorIllegalAddress);
  EXPECT_THAT(cuda_on_host::take_misuse(),
              AllOf(HasSubstr("which is misaligned (byte 6 of 400 bytes at 0x"), HasSubstr(" of device 0, allocation "),
                    HasSubstr("of kernel increment, adds.cu:5 "), HasSubstr("in block (0,0,0), thread (0,0,0)")));
}

}  // namespace
}  // namespace trigram::on_ptx
