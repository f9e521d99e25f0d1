// The checks that KERNELS_ON_PTX_CHECKS asks for in all suites, by their names ("initcheck racecheck streamcheck
// leaks"), and when other threads see stores, which KERNELS_ON_PTX_STORES says: "shuffled" or "late".
#include "ptx/runtime/nvcc/checks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ptx/runtime/control.hpp"
#include "ptx/runtime/nvcc/kernels.hpp"

namespace trigram::on_ptx {
namespace {

std::string named(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

std::vector<std::string> asked_for() {
  std::istringstream words(named("KERNELS_ON_PTX_CHECKS"));
  std::vector<std::string> names;
  for (std::string name; words >> name;) names.push_back(name);
  return names;
}

/// Lives from before the suites begin until all that they hold has ended.
class Checks {
 public:
  Checks() {
    std::vector<std::string> names = asked_for();
    leaks_ = std::erase(names, "leaks") > 0;
    cuda_on_host::check_kernels(names);
    cuda_on_host::leaks();  // what is asked in the end is made first, so that it ends last
  }
  ~Checks() {
    if (!leaks_) return;
    const auto leaks = cuda_on_host::leaks();
    for (const std::string& leak : leaks) std::fprintf(stderr, "%s\n", leak.c_str());
    if (leaks.empty()) return;
    std::fflush(nullptr);
    _exit(EXIT_FAILURE);
  }
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;

 private:
  bool leaks_ = false;
};
const Checks checks;

const bool delays_stores = [] {
  const std::map<std::string, ptx::Stores> known{
      {"", ptx::Stores::at_once}, {"shuffled", ptx::Stores::shuffled}, {"late", ptx::Stores::late}};
  const auto stores = known.find(named("KERNELS_ON_PTX_STORES"));
  if (stores == known.end()) throw std::invalid_argument("KERNELS_ON_PTX_STORES is 'shuffled' or 'late'");
  if (stores->second != ptx::Stores::at_once) cuda_on_host::run_kernels_by({.stores = stores->second});
  return true;
}();

class NothingIsFound : public testing::Environment {
 public:
  void TearDown() override {
    for (const std::string& finding : cuda_on_host::take_findings()) ADD_FAILURE() << finding;
  }
};

testing::Environment* const nothing_is_found = testing::AddGlobalTestEnvironment(new NothingIsFound);

}  // namespace
}  // namespace trigram::on_ptx
