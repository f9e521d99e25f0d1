// NCCL's codes in words, and ranks with different versions of it.
#include "backends/gpu/host/nccl_words.hpp"

#include <gmock/gmock.h>

#include "core/values/error.hpp"

namespace trigram::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(NcclWords, VersionsReadAsNcclPrintsThem) {
  EXPECT_EQ(version_text(22809), "2.28.9");
  EXPECT_EQ(version_text(21800), "2.18.0");
}

TEST(NcclWords, ResultsHaveTheirNamesByNumber) {
  EXPECT_THAT(result_words(1), StartsWith("ncclUnhandledCudaError"));
  EXPECT_THAT(result_words(2), StartsWith("ncclSystemError"));
  EXPECT_THAT(result_words(5), StartsWith("ncclInvalidUsage"));
  EXPECT_THAT(result_words(6), StartsWith("ncclRemoteError"));
  EXPECT_EQ(result_words(99), "NCCL's result 99");
  EXPECT_EQ(result_words(-1), "NCCL's result -1");
}

TEST(NcclWords, DifferentVersionsAreRefusedWithTheirRanks) {
  EXPECT_NO_THROW(require_one_version({22809, 22809}));
  try {
    require_one_version({22809, 22809, 23007});
    FAIL() << "was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 0 has NCCL 2.28.9 and rank 2 has 2.30.7"));
  }
}

}  // namespace
}  // namespace trigram::gpu
