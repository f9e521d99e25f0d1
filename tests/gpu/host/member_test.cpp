// What launchers say of a process.
#include "meeting/member.hpp"

#include <gmock/gmock.h>

#include "core/values/error.hpp"

namespace trigram::gpu {
namespace {

using ::testing::HasSubstr;

TEST(Member, ReadsTorchrun) {
  const auto member = member_of({{"RANK", "3"},
                                 {"WORLD_SIZE", "8"},
                                 {"LOCAL_RANK", "1"},
                                 {"MASTER_ADDR", "node0"},
                                 {"MASTER_PORT", "29500"},
                                 {"TORCHELASTIC_RUN_ID", "abc"},
                                 {"TORCHELASTIC_RESTART_COUNT", "2"}});
  ASSERT_TRUE(member);
  EXPECT_EQ(member->rank, 3);
  EXPECT_EQ(member->ranks, 8);
  EXPECT_EQ(member->local_rank, 1);
  EXPECT_EQ(member->launcher, "torchrun");
  EXPECT_EQ(member->job, "abc-2-29500");
  EXPECT_EQ(member->rendezvous, "tcp:node0:29501");
}

TEST(Member, TakesItsOwnPortWhereOneIsGiven) {
  const auto member = member_of(
      {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "29500"}, {"TRIGRAM_PORT", "7000"}});
  EXPECT_EQ(member->rendezvous, "tcp:h:7000");
}

TEST(Member, JobsOfTorchrunWithoutAnIdDifferByTheirPort) {
  const auto job_at = [](const char* port) {
    return member_of({{"RANK", "0"},
                      {"WORLD_SIZE", "1"},
                      {"MASTER_ADDR", "h"},
                      {"MASTER_PORT", port},
                      {"TORCHELASTIC_RUN_ID", "none"}})
        ->job;
  };
  EXPECT_NE(job_at("29500"), job_at("29501"));
}

TEST(Member, SecretsAreTheUsersOrKeptInAFile) {
  const auto with = [](Environment environment) {
    environment.insert({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
    return *member_of(environment);
  };
  EXPECT_EQ(with({{"TRIGRAM_SECRET", "twenty characters ok"}}).secret, "twenty characters ok");
  EXPECT_EQ(with({{"HOME", "/h"}}).secret_file, "/h/.local/state/trigram/secret");
  EXPECT_EQ(with({{"HOME", "/h"}, {"XDG_STATE_HOME", "/s"}}).secret_file, "/s/trigram/secret");
  EXPECT_EQ(with({}).secret_file, "");
}

TEST(Member, ReadsMpirunAndSrun) {
  const auto by_mpirun = member_of({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  EXPECT_EQ(by_mpirun->launcher, "mpirun");
  EXPECT_EQ(by_mpirun->rendezvous, "mpi");
  EXPECT_EQ(by_mpirun->local_rank, -1);
  const auto by_srun =
      member_of({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(by_srun->launcher, "srun");
  EXPECT_EQ(by_srun->rank, 5);
  EXPECT_EQ(by_srun->job, "77-0");
}

TEST(Member, RanksThatMeetInAFolderNeedNoMaster) {
  const auto member = member_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}});
  ASSERT_TRUE(member);
  EXPECT_EQ(member->rendezvous, "");
}

TEST(Member, AProcessStartedAloneIsNone) {
  EXPECT_FALSE(member_of({}));
  EXPECT_FALSE(member_of({{"RANK", "1"}}));
  EXPECT_FALSE(member_of({{"SLURM_PROCID", "0"}}));  // inside a batch script no step was started
}

TEST(Member, NumbersThatDoNotFitAreRefusedByName) {
  const auto refusal = [](const Environment& environment) -> std::string {
    try {
      member_of(environment);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), HasSubstr("RANK=2, which is no number from 0 to 1"));
  EXPECT_THAT(refusal({{"RANK", "0"}, {"WORLD_SIZE", "many"}}), HasSubstr("WORLD_SIZE=many"));
  EXPECT_THAT(refusal({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "65535"}}),
              HasSubstr("MASTER_PORT=65535"));
}

}  // namespace
}  // namespace trigram::gpu
