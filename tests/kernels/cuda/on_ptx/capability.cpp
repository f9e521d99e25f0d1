// Runs all suites on the PTX for another compute capability, as KERNELS_ON_PTX_CAPABILITY says, of objects that have
// several; all of their kernels are read first, launched or not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "ptx/runtime/nvcc/kernels.hpp"

namespace trigram::on_ptx {
namespace {

class Capability : public testing::Environment {
 public:
  void SetUp() override {
    const char* const named = std::getenv("KERNELS_ON_PTX_CAPABILITY");
    if (named == nullptr) return;
    cuda_on_host::read_ptx_for(std::stoi(named));
    ASSERT_NO_THROW(cuda_on_host::read_all_kernels());
  }
};

testing::Environment* const capability = testing::AddGlobalTestEnvironment(new Capability);

}  // namespace
}  // namespace trigram::on_ptx
