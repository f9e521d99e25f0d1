// GoogleTest in a process that forks the ranks of each run.
#include <gtest/gtest.h>

#include "tests/support/job_report.hpp"

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  if (trigram::testing::printed_unsupported(count, words)) return 0;
  return RUN_ALL_TESTS();
}
