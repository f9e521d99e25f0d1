// What no machine has is refused with both figures.
#include "core/values/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"

namespace trigram {
namespace {

TEST(Memory, IsAskedForBeforeItIsTaken) {
  EXPECT_GT(available_memory(), 0);
  EXPECT_LT(available_memory(), 1e18);
  EXPECT_NO_THROW(require_memory(0, "nothing"));
  EXPECT_THAT([] { require_memory(1e18, "everything"); },
              ::testing::ThrowsMessage<UsageError>(
                  ::testing::StartsWith("everything would take about 1e+06TB of memory; there are ")));
}

}  // namespace
}  // namespace trigram
