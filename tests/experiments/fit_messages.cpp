// What messages take by closed forms, and which mechanisms are found in such times.
#include "experiments/measure/fit_messages.hpp"

#include <gtest/gtest.h>

#include "core/values/error.hpp"

namespace trigram {
namespace {

constexpr int many = 200;  // of which the first hardly count

/// A message that takes 4 s and 0.1 s a byte.
MessageTerms plain() {
  MessageTerms terms;
  terms.latency = 4;
  terms.bandwidth = 10;
  return terms;
}

double following(const MessageTerms& terms, double bytes) { return seconds_of(terms, bytes, {many, false}); }
double answered(const MessageTerms& terms, double bytes) { return seconds_of(terms, bytes, {many, true}); }

TEST(MessageTerms, AddUp) {
  MessageTerms terms = plain();
  EXPECT_DOUBLE_EQ(following(terms, 20), 6);
  terms.overhead = 1;
  terms.handshake = 3;
  terms.handshake_size = 20;
  EXPECT_DOUBLE_EQ(following(terms, 20), 7);
  EXPECT_DOUBLE_EQ(answered(terms, 30), 4 + 3 + 1 + 3);
}

// An answer comes after all of a window was acknowledged: 2·4 s more for each that is full before the last.
TEST(MessageTerms, FindAWindowOpenAfterAnAnswer) {
  MessageTerms terms = plain();
  terms.window = 30;
  for (const auto& [bytes, seconds] : {std::pair(30.0, 7.0), {45, 13.5}, {60, 15}, {110, 30}, {240, 63}})
    EXPECT_NEAR(answered(terms, bytes), seconds, 1e-9) << bytes;
}

// What follows another finds no more room than a window in each round trip of 8 s: 60 bytes need 16 s then, and not 15.
TEST(MessageTerms, FindAWindowFullOfWhatWasBefore) {
  MessageTerms terms = plain();
  terms.window = 30;
  for (const auto& [bytes, seconds] : {std::pair(10.0, 5.0), {45, 13.5}, {60, 16}, {75, 21.5}, {240, 64}})
    EXPECT_NEAR(following(terms, bytes), seconds, 1e-2 * seconds) << bytes;
}

// Of 60 bytes 30 are over one connection by 3 s, and are acknowledged by 8; 9 s later the rest goes over three, a third
// each.
TEST(MessageTerms, BeginWithTheQuestionOverOneConnection) {
  MessageTerms terms = plain();
  terms.handshake = 9;
  terms.handshake_size = 30;
  terms.eager = true;
  terms.window = 30;
  EXPECT_NEAR(answered(terms, 60), 3 + 9 + 3 + 4, 1e-9);
  EXPECT_NEAR(answered(terms, 100), 3 + 9 + 2 * 8 + 1 + 4, 1e-9) << "three windows of one";
  terms.connections = 3;
  EXPECT_NEAR(answered(terms, 100), 3 + 9 + 7 + 4, 1e-9);
}

// A bucket of 20 bytes fills within a way, and lets at most 99 % of a message through. One of 60 fills by 40.
TEST(MessageTerms, LeaveInBursts) {
  MessageTerms terms = plain();
  terms.burst = 20;
  terms.line_rate = 1000;
  EXPECT_NEAR(following(terms, 60), 4 + (60 - 20) / 10.0, 1e-9);
  EXPECT_NEAR(following(terms, 10), 4 + 10 / 1000.0, 1e-9);
  terms.burst = 60;
  EXPECT_NEAR(following(terms, 100), 4 + (100 - 40) / 10.0, 1e-9);
}

// 4 : 1 in chunks of 10 bytes: two chunks both take the faster one, which has 8 bytes a second.
TEST(MessageTerms, LeaveASlowPathIdle) {
  MessageTerms terms = plain();
  terms.chunk = 10;
  terms.slower = 0.25;
  EXPECT_NEAR(following(terms, 20), 4 + 20 / 8.0, 1e-9);
  EXPECT_NEAR(following(terms, 50), 4 + 50 / 10.0, 1e-9);
}

TimedMessages timed(const std::vector<TimedAmount>& sizes, bool answers) {
  return {sizes, std::vector<Train>(sizes.size(), {many, answers})};
}

/// Of both alike.
FittedMessages fit_both(const std::vector<TimedAmount>& sizes, double overhead = 0) {
  return fit_messages(timed(sizes, true), timed(sizes, false), overhead);
}

TEST(FitMessages, FindsLatencyAndBandwidthAlone) {
  const std::vector<TimedAmount> noisy = {{0, 4.1},    {10, 4.8},   {20, 6.2}, {60, 9.7},
                                          {120, 16.5}, {240, 27.2}, {480, 53}};
  const MessageTerms found = fit_both(noisy, 1).all;
  EXPECT_NEAR(found.latency, 3, 0.2);
  EXPECT_NEAR(found.bandwidth, 10, 0.3);
  EXPECT_EQ(found.handshake, 0);
  EXPECT_EQ(found.window, 0);
  EXPECT_EQ(found.burst, 0);
  EXPECT_EQ(found.chunk, 0);
}

TEST(FitMessages, FindsAStep) {
  const MessageTerms found = fit_both({{0, 4}, {10, 5}, {20, 6}, {60, 12}, {120, 18}, {240, 30}, {480, 54}}).all;
  EXPECT_NEAR(found.handshake, 2, 0.05);
  EXPECT_NEAR(found.handshake_size, std::sqrt(20.0 * 60), 1e-9);
  EXPECT_EQ(found.window, 0);
}

// 2·4 s for each full window of 30 before the last, and as long as windows pass where no answers come in between
TEST(FitMessages, FindsAWindow) {
  const std::vector<TimedAmount> pair = {{0, 4},   {10, 5},   {20, 6},   {45, 13.5},
                                         {60, 15}, {110, 30}, {240, 63}, {500, 134}};
  std::vector<TimedAmount> all = pair;
  all[4].seconds = 16;
  all[6].seconds = 64;
  const FittedMessages found = fit_messages(timed(pair, true), timed(all, false), 0);
  for (const MessageTerms& terms : {found.pair, found.all}) {
    EXPECT_NEAR(terms.window, 30, 0.6);
    EXPECT_NEAR(terms.latency, 4, 0.05);
  }
}

// A knee at 25, which is a burst of 22.5: what is beyond takes 0.1 s a byte, and what is before 0.01.
TEST(FitMessages, FindsABurst) {
  const MessageTerms found =
      fit_both({{0, 4}, {5, 4.05}, {10, 4.1}, {20, 4.2}, {40, 5.75}, {80, 9.75}, {160, 17.75}, {320, 33.75}}).all;
  EXPECT_NEAR(found.burst, 22.5, 0.5);
  EXPECT_NEAR(found.bandwidth, 10, 0.1);
  EXPECT_NEAR(found.latency, 4, 0.04);
}

TEST(FitMessages, FindsWhatACrowdChangesInTheTermsOfOne) {
  MessageTerms terms = plain();
  terms.handshake = 2;
  terms.handshake_size = 30;
  const MessageTerms found = fit_crowded(terms, timed({{0, 8}, {20, 12}, {60, 25}, {120, 37}, {240, 61}}, false));
  EXPECT_NEAR(found.latency, 8, 0.08);
  EXPECT_NEAR(found.bandwidth, 5, 0.05);
  EXPECT_NEAR(found.handshake, 5, 0.1);
  EXPECT_EQ(found.handshake_size, 30);
}

TEST(FitMessages, NeedsTimesAboveZero) { EXPECT_THROW(fit_both({{0, 0}, {10, 5}, {20, 6}}), Error); }

}  // namespace
}  // namespace trigram
