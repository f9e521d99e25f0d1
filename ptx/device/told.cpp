#include "ptx/device/told.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ptx/runtime/control.hpp"

namespace trigram::ptx {

std::string most_telling(const std::vector<std::string>& findings, const std::vector<std::string>& leaks) {
  const auto is_hazard = [](const std::string& finding) { return !finding.starts_with("initcheck"); };
  const auto hazard = std::find_if(findings.begin(), findings.end(), is_hazard);
  if (hazard != findings.end()) return *hazard;
  if (!findings.empty()) return findings.front();
  return leaks.empty() ? "" : leaks.front();
}

std::vector<std::string> NewLeaks::take() {
  const std::vector<std::string> all = cuda_on_host::leaks();
  std::vector<std::string> added;
  std::set<std::string> now(all.begin(), all.end());
  std::set_difference(now.begin(), now.end(), known_.begin(), known_.end(), std::back_inserter(added));
  known_ = std::move(now);
  return added;
}

}  // namespace trigram::ptx
