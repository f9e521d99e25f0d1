// A step that a loop leaves out as a whole, and losses that are scaled anew: what methods with residuals keep follows.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/session/caller.hpp"

namespace trigram::testing::gradient_state_test {
namespace {

constexpr int ranks = 2;
constexpr double rate = 0.5;

Flags with_residuals(const std::string& algorithm = "bytegrad:codec=one_bit,error_feedback=on") {
  return job_of(ranks, {{"algorithm", algorithm}, {"bucket-size", "12B"}});
}

bool is_finite(Session* session) {
  int finite = -1;
  succeed(trigram_state_is_finite(session, &finite));
  return finite == 1;
}

/// The weights after three steps, with another one behind the first that is undone.
std::vector<float> trained(const std::string& algorithm, bool with_another) {
  CalledSession session(with_residuals(algorithm), {3, 1, 5, 2});
  succeed(session.adopt());
  session.step(0, rate);
  if (with_another) {
    const std::vector<float> before = session.all_weights();
    succeed(trigram_keep(session));
    session.step(7, rate);
    session.put_weights(before);
    succeed(trigram_go_back(session));
  }
  session.step(1, rate);
  session.step(2, rate);
  succeed(trigram_finish(session));
  return session.all_weights();
}

class KeptState : public ::testing::TestWithParam<std::string> {};

/// Buckets of several sizes.
TEST_P(KeptState, IsThatOfBefore) {
  on_ranks(ranks, [] {
    const std::vector<float> expected = trained(GetParam(), false);
    EXPECT_EQ(trained(GetParam(), true), expected);
  });
}

INSTANTIATE_TEST_SUITE_P(MethodsThatKeepSomething, KeptState,
                         ::testing::Values("bytegrad:codec=one_bit,error_feedback=on", "dgc"));

TEST(GradientState, IsRescaledAndLookedAt) {
  on_ranks(ranks, [] {
    CalledSession session(with_residuals(), {3, 1, 5, 2});
    succeed(session.adopt());
    session.step(0, rate);
    succeed(trigram_rescale(session, 2));
    EXPECT_TRUE(is_finite(session));
    succeed(trigram_rescale(session, HUGE_VAL));
    EXPECT_FALSE(is_finite(session));
    succeed(trigram_finish(session));
  });
}

}  // namespace
}  // namespace trigram::testing::gradient_state_test
