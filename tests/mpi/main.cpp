// GoogleTest in every process of an MPI job: rank 0 reports, the others speak up only when something fails.
#include <gtest/gtest.h>

#include <iostream>
#include <string_view>

#include "backends/mpi/session.hpp"
#include "tests/support/unsupported.hpp"

namespace {

/// Failures of one rank, with its number.
class FailuresOnly final : public ::testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::cerr << "rank " << trigram::mpi::Session::join().rank() << ": "
              << (result.file_name() == nullptr ? "" : result.file_name()) << ":" << result.line_number() << ": "
              << result.summary() << "\n";
  }
};

}  // namespace

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  if (count > 1 && std::string_view(words[1]) == "--unsupported") {
    trigram::testing::print_unsupported(std::cout);
    return 0;
  }
  if (trigram::mpi::Session::join().rank() != 0) {
    ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  return RUN_ALL_TESTS();
}
