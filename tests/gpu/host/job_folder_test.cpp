// Jobs that meet in one folder: each has its own, and removes nothing else.
#include "meeting/job_folder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "core/values/error.hpp"
#include "processes/child_process.hpp"
#include "tests/gpu/host/ranks.hpp"

namespace trigram::gpu {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

class JobFolders : public ::testing::Test {
 protected:
  MeetingPlace place;

  /// A whole job of two ranks, from the first word to the last.
  std::vector<std::string> errors_of_a_job(const std::string& job) {
    return errors_of(2, [&](int rank) {
      const auto meeting = meet(place.file(), member_named(rank, 2, job), {20});
      meeting->barrier({20});
      meeting->leave();
    });
  }
};

TEST_F(JobFolders, FilesOfOthersStayWhateverTheirNames) {
  fs::create_directories(place.path() / "trigram-job");
  const std::vector<fs::path> others{place.path() / "job.txt", place.path() / "job.hello_0",
                                     place.path() / "trigram-job" / "mine", place.path() / "trigram-job" / "0123.mine"};
  for (const fs::path& other : others) std::ofstream(other) << "mine";
  EXPECT_THAT(errors_of_a_job("job"), Each(IsEmpty()));
  for (const fs::path& other : others) EXPECT_TRUE(fs::exists(other)) << other;
  EXPECT_EQ(std::distance(fs::directory_iterator(place.path() / "trigram-job"), fs::directory_iterator()), 2);
}

TEST_F(JobFolders, AFolderThatWasThereStays) {
  fs::create_directories(place.path());
  EXPECT_THAT(errors_of_a_job("job"), Each(IsEmpty()));
  EXPECT_TRUE(fs::is_empty(place.path()));
}

TEST_F(JobFolders, ASecondJobOfTheNameIsRefusedAndTheFirstGoesOn) {
  const auto first = errors_of(2, [&](int rank) {
    const auto meeting = meet(place.file(), member_named(rank, 2), {20});
    meeting->barrier({20});
    if (rank == 0) {
      const auto second = errors_of(2, [&](int other) { meet(place.file(), member_named(other, 2), {20}); });
      EXPECT_THAT(second[0], AllOf(HasSubstr("a job with the name 'job' is running in '" + place.path().string()),
                                   HasSubstr("TRIGRAM_JOB")));
      EXPECT_THAT(second[1], HasSubstr("two processes call themselves rank 1"));
    }
    meeting->barrier({20});
    meeting->leave();
  });
  EXPECT_THAT(first, Each(IsEmpty()));
}

TEST_F(JobFolders, WhatAKilledJobLeftIsNoHindrance) {
  for (int killed = 0; killed < 3; ++killed) {
    const auto body = [&](int rank) {
      return [this, rank](HomeLine&) {
        const auto meeting = meet(place.file(), member_named(rank, 2), {20});
        meeting->all_gather(Bytes(100), {20});
        if (rank == 0) raise(SIGKILL);
        meeting->barrier({});
      };
    };
    ChildProcess zero("rank 0", body(0)), one("rank 1", body(1));
    while (!zero.ended()) zero.read_some();
    one.kill();
  }
  EXPECT_TRUE(fs::exists(place.path() / "trigram-job" / "start"));
  EXPECT_THAT(errors_of_a_job("job"), Each(IsEmpty()));
  EXPECT_FALSE(fs::exists(place.path() / "trigram-job"));
}

/// A rank that comes first to what a killed job left must not take it for its own job's.
TEST_F(JobFolders, ARankDoesNotFollowADeadRankZero) {
  ChildProcess zero("rank 0", [&](HomeLine&) {
    const JobFolder folder(place.path(), member_named(0, 2), 20);
    raise(SIGKILL);
  });
  while (!zero.ended()) zero.read_some();
  const auto errors = errors_of(1, [&](int) { JobFolder(place.path(), member_named(1, 2), 0.2); });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("rank 1 has waited 0 s at " + place.file() + " for rank 0"),
                               HasSubstr("does it see this folder?")));
}

TEST_F(JobFolders, DifferentNamesAreDifferentFolders) {
  EXPECT_THAT(errors_of_two_jobs(place, "a/b", "a_b"), Each(IsEmpty()));
}

TEST_F(JobFolders, WhatStandsInTheWayIsSaid) {
  fs::create_directories(place.path());
  std::ofstream(place.path() / "trigram-job") << "no folder";
  EXPECT_THAT(errors_of(1, [&](int) { JobFolder(place.path(), member_named(0, 1), 1); })[0],
              HasSubstr("it is no folder"));
  fs::remove(place.path() / "trigram-job");
  fs::create_symlink("/tmp", place.path() / "trigram-job");
  EXPECT_THAT(errors_of(1, [&](int) { JobFolder(place.path(), member_named(0, 1), 1); })[0],
              HasSubstr("it is no folder"));
}

TEST_F(JobFolders, NamesOfAnyBytesAreShownAsText) {
  const fs::path folder = place.path() / "a\xff\x1b[31m";
  const auto errors = errors_of(1, [&](int) {
    const auto meeting = meet("file:" + folder.string(), member_named(0, 1, "j\no"), {20});
    EXPECT_THAT(meeting->place(), ::testing::EndsWith("a\\xff\\x1b[31m"));
    meet("file:" + folder.string(), member_named(0, 1, "j\no"), {20});
  });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("a job with the name 'j\\no' is running"), HasSubstr("a\\xff\\x1b[31m'")));
}

TEST_F(JobFolders, OthersCannotLookIntoIt) {
  const JobFolder folder(place.path(), member_named(0, 1), 1);
  struct stat facts {};
  ASSERT_EQ(stat((place.path() / "trigram-job").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

}  // namespace
}  // namespace trigram::gpu
