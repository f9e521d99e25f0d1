// What is checked before a run begins, how often, and what is said of places that nobody named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "core/step/workload.hpp"
#include "core/training/backend.hpp"
#include "core/values/error.hpp"
#include "experiments/record/resume/folder_lock.hpp"
#include "experiments/record/run_record.hpp"
#include "tests/experiments/program_rig.hpp"

namespace {

bool file_system_has_locks = true;

}  // namespace

/// The library's, on a file system that a test chooses.
extern "C" int flock(int descriptor, int operation) noexcept {
  if (file_system_has_locks) return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
  errno = ENOLCK;
  return -1;
}

namespace trigram {
namespace {

using ::testing::HasSubstr;

int opened = 0;

/// Quadratics that are counted when they are made to be opened.
const char* counted_workload() {
  static const Workloads::Registration registration("counted", {"counts"}, [](Params&) {
    ++opened;
    return Workloads::make("quadratic:dimension=16");
  });
  return "counted";
}

TEST(Checks, OpenTheWorkloadOnceInTheProcessThatStartsTheRanks) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  const Scratch scratch;
  const Settings flags{{"workload", counted_workload()}, {"steps", "1"}, {"out", (scratch / "run").string()}};
  opened = 0;
  ASSERT_TRUE(record_run(RunConfig("test", flags)));
  EXPECT_EQ(opened, 1) << "a simulation's ranks are another process";
  opened = 0;
  check_run(RunConfig("test", flags));
  EXPECT_EQ(opened, 1);
}

TEST(Checks, NameTheBackendThatHasNoName) {
  const Ended ended = program("run --backend=:");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, HasSubstr("backend '' has no name; write name:key=value,key=value; this build has: "));
  EXPECT_THAT(program("bench --backend=sim:fast").text, HasSubstr("backend 'sim': 'fast' is no parameter"));
}

TEST(FolderLock, WarnsWhereNothingCanBeLocked) {
  const Scratch scratch;
  file_system_has_locks = false;
  ::testing::internal::CaptureStderr();
  { const FolderLock lock(scratch.path(), "a run"); }
  const std::string warning = ::testing::internal::GetCapturedStderr();
  file_system_has_locks = true;
  EXPECT_EQ(warning, "trigram: warning: '" + scratch.path().string() +
                         "' is on a file system without locks (No locks available): start nothing else that writes "
                         "there\n");
  ::testing::internal::CaptureStderr();
  { const FolderLock lock(scratch.path(), "a run"); }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace trigram
