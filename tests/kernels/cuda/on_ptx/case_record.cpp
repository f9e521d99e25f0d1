// What mutations/run.py asks about the suites: which case launches which kernel and how long it takes, in
// KERNELS_ON_PTX_CASES, and where kernels can be made wrong, in KERNELS_ON_PTX_PLACES.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "ptx/runtime/nvcc/kernels.hpp"
#include "tests/kernels/cuda/on_ptx/mutation.hpp"

namespace trigram::on_ptx {
namespace {

/// A line a case and kernel: milliseconds, the case, the kernel's name.
class CaseRecord : public testing::EmptyTestEventListener {
 public:
  explicit CaseRecord(const std::string& path) : file_(path) {}

  void OnTestStart(const testing::TestInfo&) override { before_ = cuda_on_host::launches_by_kernel(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    for (const auto& [kernel, launches] : cuda_on_host::launches_by_kernel()) {
      if (launches == before_[kernel]) continue;
      file_ << test.result()->elapsed_time() << ' ' << test.test_suite_name() << '.' << test.name() << ' ' << kernel
            << '\n';
    }
    file_.flush();
  }

 private:
  std::ofstream file_;
  std::map<std::string, std::int64_t> before_;
};

/// Writes the places of each object when it is read: mutation, kernel, place, instruction, line, file.
void note_places(const std::string& path) {
  cuda_on_host::rewrite_ptx_by([path](const std::string& ptx) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    std::ofstream file(path, std::ios::app);
    for (const Place& place : places_in(ptx)) {
      const auto& [name, kernel, number] = place.mutation;
      file << name << ' ' << kernel << ' ' << number << ' ' << place.instruction << ' ' << place.line << ' '
           << place.file << '\n';
    }
    return ptx;
  });
}

class Records : public testing::Environment {
 public:
  void SetUp() override {
    if (const char* const cases = std::getenv("KERNELS_ON_PTX_CASES"))
      testing::UnitTest::GetInstance()->listeners().Append(new CaseRecord(cases));
    if (const char* const places = std::getenv("KERNELS_ON_PTX_PLACES")) note_places(places);
  }
};

testing::Environment* const records = testing::AddGlobalTestEnvironment(new Records);

}  // namespace
}  // namespace trigram::on_ptx
