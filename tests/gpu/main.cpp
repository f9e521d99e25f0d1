// GoogleTest in every process of a GPU job: rank 0 reports, the others speak up only when something fails. A process
// that was started alone forks the ranks of each run. Says that it skips where there is no GPU.
#include <gtest/gtest.h>

#include <iostream>
#include <string_view>

#include "backends/gpu/devices.hpp"
#include "backends/gpu/host/member.hpp"
#include "core/error.hpp"
#include "tests/support/unsupported.hpp"

namespace {

int launched_rank() {
  const auto member = trigram::gpu::member_of(trigram::gpu::launcher_environment());
  return member ? member->rank : 0;
}

/// Failures of one rank, with its number.
class FailuresOnly final : public ::testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::cerr << "rank " << launched_rank() << ": " << (result.file_name() == nullptr ? "" : result.file_name()) << ":"
              << result.line_number() << ": " << result.summary() << "\n";
  }
};

}  // namespace

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  if (count > 1 && std::string_view(words[1]) == "--unsupported") {
    trigram::testing::print_unsupported(std::cout);
    return 0;
  }
  if (launched_rank() != 0) {
    ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  try {
    trigram::gpu::device_count();
  } catch (const trigram::UsageError& error) {
    std::cout << "skipped: " << error.what() << "\n";
    return 0;
  }
  return RUN_ALL_TESTS();
}
