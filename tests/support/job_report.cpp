#include "tests/support/job_report.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <string_view>

#include "tests/support/unsupported.hpp"

namespace trigram::testing {
namespace {

/// Failures of one rank, with its number.
class FailuresOnly final : public ::testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::cerr << "rank " << rank_ << ": " << (result.file_name() == nullptr ? "" : result.file_name()) << ":"
              << result.line_number() << ": " << result.summary() << "\n";
  }

 private:
  int rank_;
};

}  // namespace

bool printed_unsupported(int count, char** words) {
  if (count <= 1 || std::string_view(words[1]) != "--unsupported") return false;
  print_unsupported(std::cout);
  return true;
}

void report_as_rank(int rank) {
  if (rank == 0) return;
  ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new FailuresOnly(rank));
}

}  // namespace trigram::testing
