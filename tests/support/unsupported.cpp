#include "tests/support/unsupported.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace trigram::testing {

std::string skip_reason(const std::string& backend) {
  const std::string running = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  for (const Unsupported& entry : unsupported()) {
    const bool this_test = running.substr(0, running.find('/')) == entry.test;
    if (this_test && backend.find(entry.backend) != std::string::npos) return "not on " + backend + ": " + entry.reason;
  }
  return {};
}

void print_unsupported(std::ostream& out) {
  for (const Unsupported& entry : unsupported()) {
    out << "skipped: " << entry.test << (entry.backend.empty() ? "" : " with " + entry.backend) << ": " << entry.reason
        << "\n";
  }
}

}  // namespace trigram::testing
