// What the environment of launchers means: ranks where ranks are processes, one process where they are simulated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/training/backend.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;

class Launched : public Simulating {
 protected:
  std::string out(const std::string& name) const { return " --out " + (scratch / name).string(); }
};

TEST_F(Launched, AProcessThatIsAloneRunsAndPrintsWhateverItsNumber) {
  int runs = 0;
  for (const char* environment :
       {"RANK=3 WORLD_SIZE=4 MASTER_ADDR=pod-0 MASTER_PORT=29500", "SLURM_PROCID=2 SLURM_NTASKS=4", "PMI_RANK=1",
        "PMI_RANK=0 PMI_SIZE=1", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1",
        "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1", "TORCHELASTIC_RUN_ID=a RANK=0 WORLD_SIZE=1"}) {
    const std::string folder = "run" + std::to_string(++runs);
    const Ended ended = program("run --workload quadratic --steps 2" + out(folder), environment);
    EXPECT_EQ(ended.code, 0) << environment << ": " << ended.text;
    EXPECT_THAT(ended.text, HasSubstr("iteration")) << environment;
    EXPECT_TRUE(std::filesystem::exists(scratch / (folder + "/run.json"))) << environment;
  }
}

TEST_F(Launched, WhatOneProcessDoesIsRefusedInSeveral) {
  const std::string four = "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0";
  for (const std::string& arguments : {"run" + out("a"), "bench" + out("a"), "calibrate" + out("a")}) {
    const Ended ended = program(arguments, four);
    EXPECT_EQ(ended.code, 2) << ended.text;
    EXPECT_THAT(ended.text,
                HasSubstr(" on backend 'sim': mpirun started 4 processes (OMPI_COMM_WORLD_SIZE=4), and each "
                          "would do all of it; start it once, without mpirun, or name a --backend whose "
                          "ranks are processes\n"));
  }
  for (const std::string& arguments :
       {"study bagua_bandwidth" + out("a"), "plot " + scratch.path().string(), std::string("list")}) {
    const Ended ended = program(arguments, four);
    EXPECT_EQ(ended.code, 2) << ended.text;
    EXPECT_THAT(ended.text, HasSubstr("and each would do all of it; start it once, without mpirun\n"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST_F(Launched, EachLauncherIsKnownByItsOwnVariable) {
  EXPECT_THAT(program("list", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2").text,
              HasSubstr("trigram list: srun started 2 processes (SLURM_STEP_NUM_TASKS=2)"));
  EXPECT_THAT(program("list", "PMI_RANK=0 PMI_SIZE=2").text, HasSubstr("mpirun started 2 processes (PMI_SIZE=2)"));
  EXPECT_THAT(program("list", "TORCHELASTIC_RUN_ID=a RANK=0 WORLD_SIZE=8").text,
              HasSubstr("torchrun started 8 processes (WORLD_SIZE=8)"));
  EXPECT_THAT(program("list", "PMI_RANK=1 PMI_SIZE=2").text, HasSubstr("trigram: rank 1: trigram list: mpirun"));
}

}  // namespace
}  // namespace trigram
