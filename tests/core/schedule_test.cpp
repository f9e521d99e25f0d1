// Schedules against their formulas.
#include "core/step/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/values/error.hpp"

namespace trigram {
namespace {

std::vector<double> factors(const std::string& spec, std::int64_t steps) {
  const auto schedule = Schedules::make(spec);
  std::vector<double> all;
  for (std::int64_t step = 0; step < steps; ++step) all.push_back(schedule->factor(step, steps));
  return all;
}

TEST(Schedules, FollowTheirFormulas) {
  using Factors = std::vector<double>;
  EXPECT_EQ(factors("constant", 3), (Factors{1, 1, 1}));
  EXPECT_EQ(factors("constant:warmup=4", 6), (Factors{0.25, 0.5, 0.75, 1, 1, 1}));
  EXPECT_EQ(factors("step:every=2,factor=0.5", 5), (Factors{1, 1, 0.5, 0.5, 0.25}));
  EXPECT_EQ(factors("linear:final=0.5", 4), (Factors{1, 0.875, 0.75, 0.625}));
  EXPECT_EQ(factors("linear:warmup=2", 4), (Factors{0.5, 1, 1, 0.5}));
  const Factors cosine = factors("cosine:final=0.2", 4);
  EXPECT_DOUBLE_EQ(cosine[0], 1);
  EXPECT_DOUBLE_EQ(cosine[1], 0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2);
  EXPECT_DOUBLE_EQ(cosine[2], 0.6);
}

TEST(Schedules, AWarmUpMayBeLongerThanTheRun) {
  for (const std::string& name : Schedules::names()) {
    EXPECT_EQ(factors(name + ":warmup=10", 2), (std::vector<double>{0.1, 0.2})) << name;
    EXPECT_TRUE(std::isfinite(factors(name + ":warmup=1", 1)[0])) << name;
  }
}

TEST(Schedules, RefuseWhatIsNoShare) {
  EXPECT_THROW(Schedules::make("cosine:final=1.5"), UsageError);
  EXPECT_THROW(Schedules::make("step:every=0"), UsageError);
  EXPECT_THROW(Schedules::make("constant:warmup=-1"), UsageError);
}

}  // namespace
}  // namespace trigram
