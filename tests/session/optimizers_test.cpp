// Steps of optimizers on the caller's memory, by the functions of C, from several threads at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/session/caller.hpp"

namespace trigram::testing::optimizers_test {
namespace {

std::uint64_t at(const std::vector<float>& memory) { return reinterpret_cast<std::uintptr_t>(memory.data()); }

TEST(OptimizersOfC, StepAsTheirRulesSay) {
  on_ranks(4, [] {
    std::vector<float> weights{1, 2}, gradients{0.5F, -1}, first{0, 0}, second{0, 0};
    const std::uint64_t w = at(weights), g = at(gradients), m = at(first), v = at(second);
    const std::int64_t count = 2;
    ASSERT_EQ(trigram_sgd_step(&w, &g, &m, &count, 1, 0.5, 0.9, 0, 0, 0, 1), 0);
    ASSERT_EQ(trigram_sgd_step(&w, &g, &m, &count, 1, 0.5, 0.9, 0, 0, 0, 0), 0);
    EXPECT_NEAR(weights[0], 1 - 0.5 * (0.5 + 0.95), 1e-6) << "velocities g and 1.9 g";
    EXPECT_NEAR(weights[1], 2 + 0.5 * (1 + 1.9), 1e-6);
    weights = {1, 2};
    first = second = {0, 0};
    ASSERT_EQ(trigram_adam_step(&w, &g, &m, &v, &count, 1, 0.1, 0.9, 0.999, 1e-8, 0, 1, 0), 0);
    EXPECT_NEAR(weights[0], 0.9, 1e-5) << "the first step is along the sign";
    EXPECT_NEAR(weights[1], 2.1, 1e-5);
  });
}

}  // namespace
}  // namespace trigram::testing::optimizers_test
