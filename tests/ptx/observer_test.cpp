// What an observer of a launch is told.
#include "ptx/observer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ptx/observers.hpp"
#include "tests/ptx/small_kernels.hpp"

namespace trigram::ptx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// Writes down what it is told, in words.
class Diary : public Observer {
 public:
  explicit Diary(std::vector<std::string>& lines) : lines_(lines) {}

  void kernel_begins(const Kernel& kernel, const Launch& launch) override {
    note(kernel.name, " begins, blocks: ", count(launch.grid));
  }
  void kernel_ends() override { note("kernel ends"); }
  void block_begins(const BlockState& block) override { note("block ", block.index.x, " begins"); }
  void block_ends(const BlockState& block) override { note("block ", block.index.x, " ends"); }
  void issues(const Lanes& warp, const Instruction& instruction, Arrival arrival) override {
    const std::string opcode = instruction.text.substr(0, instruction.text.find(' '));
    note(opcode, " active ", std::popcount(warp.active), " together ", std::popcount(arrival.together), " live ",
         std::popcount(arrival.live));
  }
  void accesses(const Lanes& warp, const WarpAccess& access) override {
    const std::uint32_t lane = first_lane(access.lanes);
    note(access.access == Access::read ? "reads " : "writes ", std::popcount(access.lanes), " times ", access.bytes,
         " of space ", int(access.space), ", thread ", warp.first_thread + lane, " at ",
         access.addresses[lane] % 65536);
  }
  void block_synchronizes(const BlockState& block) override { note("block ", block.index.x, " synchronizes"); }
  void warp_synchronizes(const Lanes& warp, const Instruction&, std::uint32_t lanes) override {
    note("warp of thread ", warp.first_thread, " synchronizes ", std::popcount(lanes));
  }

 private:
  template <class... Parts>
  void note(const Parts&... parts) {
    std::ostringstream line;
    (line << ... << parts);
    lines_.push_back(line.str());
  }

  std::vector<std::string>& lines_;
};

std::vector<std::string> told_of(const std::string& body, Dimensions block, Dimensions grid = {}) {
  std::vector<std::string> lines;
  Diary diary(lines);
  words_after(body, block, count(block), {.order = Order::first_ahead}, grid, &diary);
  return lines;
}

/// The lines that hold a text.
std::vector<std::string> those_of(const std::vector<std::string>& lines, const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    if (line.find(text) != std::string::npos) found.push_back(line);
  }
  return found;
}

TEST(PtxObserver, IsToldOfBeginningsAndEnds) {
  const auto told = told_of("", {1}, {2});
  EXPECT_EQ(told.front(), "tried begins, blocks: 2");
  EXPECT_EQ(told[1], "block 0 begins");
  EXPECT_THAT(those_of(told, "ends"), ElementsAre("block 0 ends", "block 1 ends", "kernel ends"));
}

TEST(PtxObserver, IsToldOfEachInstructionWithItsLanes) {
  const auto told = told_of(
      "setp.lt.u32 %p1, %r1, 8;\n @%p1 add.u32 %r2, %r1, 1;\n @%p1 bra $low;\n"
      " sub.u32 %r2, %r1, 1;\n ret;\n$low:\n mul.lo.u32 %r2, %r1, 2;",
      {32});
  EXPECT_THAT(those_of(told, "setp"), ElementsAre("setp.lt.u32 active 32 together 32 live 32"));
  EXPECT_THAT(those_of(told, "@%p1 active 8"), SizeIs(2)) << "the addition, and the branch";
  EXPECT_THAT(those_of(told, "sub"), ElementsAre("sub.u32 active 24 together 24 live 32"));
  EXPECT_THAT(those_of(told, "mul"), ElementsAre("mul.lo.u32 active 8 together 8 live 8"));
}

TEST(PtxObserver, IsToldOfInstructionsThatNoLaneDoes) {
  const auto told = told_of("setp.gt.u32 %p1, %r1, 99;\n @%p1 add.u32 %r2, %r1, 1;", {32});
  EXPECT_THAT(those_of(told, "@%p1"), ElementsAre("@%p1 active 0 together 32 live 32"));
}

TEST(PtxObserver, IsToldOfAccessesBySpace) {
  const auto told = told_of(R"(.shared .align 4 .b8 s[64];
  .local .align 8 .b8 l[16];
  mov.u32 %r2, s;
  st.shared.u32 [%r2+8], %r1;
  st.local.u16 [l+4], 1;
  setp.gt.u32 %p1, %r1, 29;
  @%p1 ld.global.v2.u32 {%r3, %r4}, [%rd1+8];)",
                            {32});
  EXPECT_THAT(those_of(told, "writes"), ElementsAre("writes 32 times 4 of space 2, thread 0 at 8",
                                                    "writes 32 times 2 of space 3, thread 0 at 4"));
  EXPECT_THAT(those_of(told, "reads"), ElementsAre("reads 32 times 8 of space 4, thread 0 at 0",
                                                   HasSubstr("reads 2 times 8 of space 1, thread 30")));
}

TEST(PtxObserver, IsToldOfGenericAddressesByTheSpaceThatTheyReach) {
  const auto told = told_of(R"(.shared .align 4 .b8 s[128];
  mov.u64 %rd3, s;
  cvta.shared.u64 %rd4, %rd3;
  setp.lt.u32 %p1, %r1, 4;
  selp.b64 %rd5, %rd4, %rd1, %p1;
  st.u32 [%rd5+12], %r1;)",
                            {32});
  EXPECT_THAT(those_of(told, "writes"), ElementsAre(HasSubstr("writes 28 times 4 of space 1, thread 4"),
                                                    "writes 4 times 4 of space 2, thread 0 at 12"));
}

TEST(PtxObserver, IsToldOfWhoWaitsForWhom) {
  const auto told = told_of(R"(bar.sync 0;
  mov.u32 %r4, %laneid;
  setp.lt.u32 %p1, %r4, 8;
  selp.b32 %r2, 0xFF, 0xFFFFFF00, %p1;
  bar.warp.sync %r2;
  shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;)",
                            {64});
  EXPECT_THAT(those_of(told, "block 0 sync"), ElementsAre("block 0 synchronizes"));
  EXPECT_THAT(those_of(told, "warp of thread 0 "),
              ElementsAre("warp of thread 0 synchronizes 8", "warp of thread 0 synchronizes 24",
                          "warp of thread 0 synchronizes 32"));
  EXPECT_THAT(those_of(told, "warp of thread 32 "), SizeIs(3));
}

TEST(PtxObserver, SeveralAreToldTheSame) {
  std::vector<std::string> first, second;
  std::vector<std::unique_ptr<Observer>> both;
  both.push_back(std::make_unique<Diary>(first));
  both.push_back(std::make_unique<Diary>(second));
  Observers observers(std::move(both));
  words_after("bar.sync 0;\n shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\n st.global.u32 [%rd2], %r3;", {32}, 32, {}, {},
              &observers);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, told_of("bar.sync 0;\n shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\n st.global.u32 [%rd2], %r3;", {32}));
}

}  // namespace
}  // namespace trigram::ptx
