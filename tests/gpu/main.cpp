// GoogleTest in every process of a GPU job. A process that was started alone forks the ranks of each run. Says that it
// skips where there is no GPU.
#include <gtest/gtest.h>

#include <iostream>

#include "backends/gpu/devices.hpp"
#include "core/values/error.hpp"
#include "meeting/member.hpp"
#include "tests/support/job_report.hpp"

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  if (trigram::testing::printed_unsupported(count, words)) return 0;
  const auto member = trigram::member_of(trigram::launcher_environment());
  trigram::testing::report_as_rank(member ? member->rank : 0);
  try {
    trigram::gpu::device_count();
  } catch (const trigram::UsageError& error) {
    std::cout << "skipped: " << error.what() << "\n";
    return 0;
  }
  return RUN_ALL_TESTS();
}
