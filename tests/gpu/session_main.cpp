// GoogleTest in every process of a job whose ranks drive the session's library. Says that it skips where there is no
// GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <iostream>

#include "meeting/member.hpp"
#include "tests/support/job_report.hpp"

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  const auto member = trigram::member_of(trigram::launcher_environment());
  trigram::testing::report_as_rank(member ? member->rank : 0);
  int devices = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&devices); status != cudaSuccess || devices == 0) {
    std::cout << "skipped: no CUDA device: " << cudaGetErrorString(status) << "\n";
    return 0;
  }
  return RUN_ALL_TESTS();
}
