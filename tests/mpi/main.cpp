// GoogleTest in every process of an MPI job.
#include <gtest/gtest.h>

#include "backends/mpi/session.hpp"
#include "tests/support/job_report.hpp"

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  if (trigram::testing::printed_unsupported(count, words)) return 0;
  trigram::testing::report_as_rank(trigram::mpi::Session::join().rank());
  return RUN_ALL_TESTS();
}
