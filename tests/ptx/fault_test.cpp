// What kernels may not do, and what is said of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/ptx/small_kernels.hpp"

namespace trigram::ptx {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

TEST(PtxMemcheck, SaysAllOfAnAccessOutOfBounds) {
  EXPECT_THAT(
      fault_of(".loc 1 40 2\n  st.global.u32 [%rd2+36], 1;", {8, 2}),
      MatchesRegex("memcheck: invalid global write of 4 bytes at address 0x[0-9a-f]+, which nobody allocated "
                   "at 'st.global.u32 \\[%rd2\\+36\\], 1' of kernel tried, tried.cu:40 \\(line 15 of the PTX\\), "
                   "in block \\(0,0,0\\), thread \\(7,0,0\\)"));
}

TEST(PtxMemcheck, NamesKernelsAsTheirSourceDoes) {
  std::string mangled = small_module("st.global.u32 [%rd2+128], 1;");
  mangled = with(mangled, ".entry tried(", ".entry _ZN4some5triedEPj(");
  std::vector<std::uint32_t> words(32);
  BoundedMemory memory(words);
  const std::uint32_t* address = words.data();
  std::byte parameters[sizeof address];
  std::memcpy(parameters, &address, sizeof address);
  const Module module = Module::read(mangled, "small.ptx");
  try {
    launch(module.kernel("_ZN4some5triedEPj"), {.block = {32}, .parameters = parameters}, memory, {});
    FAIL() << "nothing was found";
  } catch (const Fault& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("of kernel some::tried(unsigned int*), line"));
  }
}

TEST(PtxMemcheck, FindsTheLaneWhereAWholeWarpAccessesARow) {
  const std::string fault = fault_of("ld.global.u32 %r2, [%rd2+8];");
  EXPECT_THAT(fault, AllOf(StartsWith("memcheck: invalid global read of 4 bytes"), HasSubstr("thread (30,0,0)")));
}

TEST(PtxMemcheck, FindsMisalignedAccesses) {
  EXPECT_THAT(fault_of("ld.global.u32 %r2, [%rd1+2];"),
              HasSubstr("which is misaligned at 'ld.global.u32 %r2, [%rd1+2]'"));
  EXPECT_THAT(fault_of(".shared .align 16 .b8 s[32];\n st.shared.v4.u32 [s+8], {%r1, %r1, %r1, %r1};"),
              HasSubstr("invalid shared write of 16 bytes at address 0x8, which is misaligned"));
  EXPECT_THAT(fault_of(".local .align 8 .b8 l[16];\n mov.u64 %rd3, l;\n ld.local.u64 %rd4, [%rd3+4];"),
              HasSubstr("invalid local read of 8 bytes at address 0x4, which is misaligned"));
  EXPECT_THAT(fault_of("ld.param.u32 %r2, [words+2];"),
              HasSubstr("invalid parameter read of 4 bytes at address 0x2, which is misaligned"));
}

TEST(PtxMemcheck, FindsAccessesOutOfBoundsOfEachSpace) {
  EXPECT_THAT(fault_of(".shared .align 4 .b8 s[32];\n ld.shared.u32 %r2, [s+32];"),
              HasSubstr("invalid shared read of 4 bytes at address 0x20, which is out of bounds of 32 bytes"));
  EXPECT_THAT(fault_of(".shared .align 4 .b8 s[32];\n ld.shared.u32 %r2, [s+-4];"),
              HasSubstr("out of bounds of 32 bytes"));
  EXPECT_THAT(fault_of(".local .align 8 .b8 l[8];\n mov.u64 %rd3, l;\n st.local.u32 [%rd3+8], 1;"),
              HasSubstr("invalid local write of 4 bytes at address 0x8, which is out of bounds of 8 bytes"));
  EXPECT_THAT(fault_of("ld.param.u32 %r2, [words+8];"),
              HasSubstr("invalid parameter read of 4 bytes at address 0x8, which is out of bounds of 8 bytes"));
}

TEST(PtxMemcheck, LetsNobodyWriteParameters) {
  EXPECT_THAT(fault_of("st.param.u32 [words], 1;"), HasSubstr("which no kernel may write"));
  EXPECT_THAT(fault_of("mov.u64 %rd3, words;\n cvta.param.u64 %rd4, %rd3;\n st.u32 [%rd4], 1;"),
              HasSubstr("invalid parameter write of 4 bytes at address 0x0, which no kernel may write"));
}

TEST(PtxMemcheck, GenericAddressesReachEachSpace) {
  constexpr const char* through_shared = R"(
  .shared .align 4 .b8 s[128];
  .local .align 4 .b8 l[8];
  mov.u64 %rd3, s;
  cvta.shared.u64 %rd4, %rd3;
  mad.wide.u32 %rd5, %r1, 4, %rd4;
  st.u32 [%rd5], %r1;
  mov.u64 %rd6, l;
  cvta.local.u64 %rd7, %rd6;
  ld.u32 %r2, [%rd5];
  st.u32 [%rd7+4], %r2;
  ld.local.u32 %r3, [%rd6+4];
  st.u32 [%rd2], %r3;)";
  const auto words = words_after(through_shared, {32}, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(words[lane], lane);
  EXPECT_THAT(
      fault_of(
          ".shared .align 4 .b8 s[4];\n mov.u64 %rd3, s;\n cvta.shared.u64 %rd4, %rd3;\n ld.global.u32 %r2, [%rd4];"),
      HasSubstr("which lies in another state space"));
}

TEST(PtxSynccheck, FindsThreadsThatEndBeforeABarrier) {
  const std::string fault = fault_of("setp.ge.u32 %p1, %r1, 40;\n @%p1 ret;\n bar.sync 0;", {64});
  EXPECT_THAT(fault, AllOf(StartsWith("synccheck: divergent threads in block: thread 40 of the block has ended"),
                           HasSubstr("'bar.sync 0'")));
}

TEST(PtxSynccheck, FindsWarpsAtDifferentBarriers) {
  EXPECT_THAT(fault_of("setp.ge.u32 %p1, %r1, 32;\n @%p1 bra $high;\n bar.sync 0;\n ret;\n$high:\n bar.sync 1;", {64}),
              HasSubstr("thread 32 of the block waits at another barrier, 'bar.sync 1'"));
}

TEST(PtxSynccheck, FindsLanesThatPassByABarrier) {
  EXPECT_THAT(fault_of("setp.ge.u32 %p1, %r1, 4;\n @%p1 bar.sync 0;"),
              HasSubstr("divergent threads in warp: lane 0 passes by the barrier"));
  const std::string apart =
      "setp.ge.u32 %p1, %r1, 4;\n @%p1 bra $high;\n bar.sync 0;\n bra.uni $end;\n$high:\n bar.sync 0;\n$end:";
  for (const Reconvergence reconvergence : {Reconvergence::early, Reconvergence::late}) {
    EXPECT_THAT(
        fault_of(apart, {32}, {.reconvergence = reconvergence}),
        HasSubstr(
            "divergent threads in warp: lane 0 waits for lane 4, which waits at 'bar.sync 0' (line 19 of the PTX)"));
  }
}

TEST(PtxSynccheck, FindsMasksThatNameNobody) {
  EXPECT_THAT(fault_of("setp.ge.u32 %p1, %r1, 20;\n @%p1 ret;\n vote.sync.any.pred %p2, %p1, -1;"),
              HasSubstr("the mask names lane 20, which has ended"));
  EXPECT_THAT(fault_of("shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;", {8}),
              HasSubstr("the mask names lane 8, which the block does not have"));
  EXPECT_THAT(fault_of("shfl.sync.idx.b32 %r2, %r1, 0, 31, 0x0F;", {8}),
              HasSubstr("the mask does not name the lane that gives it"));
}

TEST(PtxSynccheck, FindsMasksThatDiffer) {
  EXPECT_THAT(
      fault_of("setp.lt.u32 %p1, %r1, 16;\n selp.b32 %r2, 0xFFFF, -1, %p1;\n vote.sync.any.pred %p2, %p1, %r2;"),
      HasSubstr("the mask differs from that of lane 0, which it names"));
}

TEST(PtxSynccheck, FindsShufflesFromLanesThatTakeNoPart) {
  EXPECT_THAT(fault_of("setp.ge.u32 %p1, %r1, 4;\n @%p1 shfl.sync.bfly.b32 %r2, %r1, 4, 31, 0xFFFFFFF0;"),
              HasSubstr("synccheck: the shuffle reads lane 0, which takes no part in it"));
}

TEST(PtxSynccheck, FindsLanesThatWaitForEachOther) {
  EXPECT_THAT(fault_of("setp.ge.u32 %p1, %r1, 16;\n @%p1 bra $high;\n vote.sync.any.pred %p2, %p1, -1;\n ret;\n$high:\n"
                       " shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;"),
              HasSubstr("lane 0 waits for lane 16, which waits at 'shfl.sync.idx.b32 %r2, %r1, 0, 31, -1'"));
}

TEST(PtxSynccheck, LetsLanesEndBeforeABarrierOfTheirWarp) {
  EXPECT_EQ(fault_of("setp.ge.u32 %p1, %r1, 20;\n @%p1 bra $end;\n bar.warp.sync -1;\n$end:"), "");
}

}  // namespace
}  // namespace trigram::ptx
