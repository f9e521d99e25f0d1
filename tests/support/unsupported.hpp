// What a backend cannot do, by the names of the conformance tests that it skips: no skip is silent.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace trigram::testing {

/// One test that is not for some backend.
struct Unsupported {
  std::string test;     ///< its name without suite and parameters
  std::string backend;  ///< part of the backend's spec; empty: all that this executable tests
  std::string reason;
};

/// Beside `tested_backends`, one list an executable.
const std::vector<Unsupported>& unsupported();

/// Why the running test skips that backend; empty when it does not.
std::string skip_reason(const std::string& backend);

/// A line for each entry.
void print_unsupported(std::ostream& out);

}  // namespace trigram::testing
