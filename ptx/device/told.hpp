// What is told of findings that ended no kernel, and of what a trial left behind.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace trigram::ptx {

/// The finding that explains the others: a race before a read of what nobody has written, since memory is unwritten
/// where its writer comes too late; what is left behind where nothing else was wrong. Empty: there is none.
std::string most_telling(const std::vector<std::string>& findings, const std::vector<std::string>& leaks);

/// Memory, streams and events that a trial leaves behind, each said once.
class NewLeaks {
 public:
  /// Those that were not there when it was last asked.
  std::vector<std::string> take();

 private:
  std::set<std::string> known_;
};

}  // namespace trigram::ptx
