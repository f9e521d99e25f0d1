// Writes down how often each kernel was launched, for every_kernel_is_launched.py, which sees all parts of the suites.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "ptx/runtime/nvcc/kernels.hpp"
#include "ptx/where.hpp"

namespace {

class LaunchRecord : public testing::Environment {
 public:
  void TearDown() override {
    const char* const path = std::getenv("KERNELS_ON_PTX_RECORD");
    if (path == nullptr) return;
    std::ofstream file(path);
    for (const auto& [name, launches] : cuda_on_host::launches_by_kernel())
      file << launches << ' ' << name << ' ' << trigram::ptx::readable(name) << '\n';
    ASSERT_TRUE(file.flush()) << path << " cannot be written";
  }
};

testing::Environment* const launch_record = testing::AddGlobalTestEnvironment(new LaunchRecord);

}  // namespace
