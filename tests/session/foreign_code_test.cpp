// An algorithm whose hooks are functions of the caller, as Python's are, but in C++: it averages gradients by what a
// lane may be asked for, and fails as such code does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>

#include "core/values/error.hpp"
#include "tests/session/caller.hpp"

namespace trigram::testing::foreign_code_test {
namespace {

using ::testing::HasSubstr;

constexpr int ranks = 2;
constexpr int steps = 3;
const Flags& own_algorithm() {
  static const Flags flags =
      job_of(ranks, {{"algorithm", "python_algorithm:name=Mean"}, {"bucket-size", "12B"}, {"lanes", "2"}});
  return flags;
}

/// What the code of one rank keeps.
struct Code {
  std::vector<std::pair<float*, std::int64_t>> buckets = {};  ///< gradients, and how many
  int rank = -1;                                              ///< as it was told
  int fails_in_step = -1;
  int begun = 0;
};
std::array<Code, ranks> codes;

nlohmann::json asked(LaneOfCaller* lane, const nlohmann::json& question) {
  succeed(trigram_lane_ask(lane, question.dump().c_str()));
  return reply();
}

void average(Code& code, LaneOfCaller* lane, std::size_t bucket) {
  const auto [gradients, length] = code.buckets.at(bucket);
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(gradients));
  const char* collective = bucket == 0 ? "all_reduce" : "gradient_mean";
  const nlohmann::json call = {{"collective", collective},         {"op", "mean"}, {"peer", 0}, {"dtype", "f32"},
                               {"peers", nlohmann::json::array()}, {"sent", 0}};
  succeed(trigram_lane_call(lane, "all", call.dump().c_str(), &address, &length, 1));
}

void work(Code& code, LaneOfCaller* lane, const nlohmann::json& message) {
  if (message.contains("task")) return average(code, lane, message.at("task"));
  const std::string hook = message.at("hook");
  if (hook == "setup") code.rank = message.at("groups").at("all").at(0);
  if (hook == "gradients_ready") {
    asked(lane, {{"ask", "start"}, {"bucket", message.at("bucket")}, {"number", message.at("bucket")}});
    ++code.begun;
  }
  if (hook == "before_update") {
    ensure(message.at("step") != code.fails_in_step, "the flux is 7");
    for (int number = 0; number < code.begun; ++number) {
      asked(lane, {{"ask", "done"}, {"number", number}});
      asked(lane, {{"ask", "wait"}, {"number", number}});
    }
    asked(lane, {{"ask", "record"}, {"column", "begun"}, {"value", code.begun}});
    asked(lane, {{"ask", "charge"}, {"flops", 1.0}, {"bytes_moved", 1.0}});
    EXPECT_GE(asked(lane, {{"ask", "now"}}).get<double>(), 0);
    code.begun = 0;
  }
}

/// What the library calls; a function of C knows the rank by which one it is.
template <int index>
int told(LaneOfCaller* lane, const char* text) {
  try {
    work(codes[index], lane, nlohmann::json::parse(text));
    return 0;
  } catch (const std::exception& error) {
    trigram_lane_fail(lane, error.what());
    return 1;
  }
}

/// Calls `body` on each rank with its code and a session that has it.
void on_ranks_with_code(const std::function<void(Code&, CalledSession&)>& body) {
  std::atomic<int> next = 0;
  on_ranks(ranks, [&] {
    const int index = next++;
    Code& code = codes[static_cast<std::size_t>(index)] = Code();
    trigram_hooks(index == 0 ? told<0> : told<1>);
    CalledSession session(own_algorithm(), {3, 1, 5});
    trigram_hooks(nullptr);
    code.buckets = {{session.gradients(2), 5}, {session.gradients(1), 4}};
    succeed(session.adopt());
    EXPECT_EQ(code.rank, session.rank());
    body(code, session);
  });
}

TEST(ForeignCode, AveragesByWhatALaneIsAskedFor) {
  on_ranks_with_code([](Code&, CalledSession& session) {
    for (int step = 0; step < steps; ++step) session.step(step, 0.5);
    succeed(trigram_finish(session));
    for (int i = 0; i < session.parameters(); ++i) {
      float sum = 0;
      for (int step = 0; step < steps; ++step) sum += gradient_of(0, step, i) + gradient_of(1, step, i);
      EXPECT_EQ(session.weights(i)[session.count(i) - 1], -0.25F * sum) << i;
    }
    succeed(trigram_rows(session));
    for (const nlohmann::json& row : reply()) EXPECT_EQ(row.at("begun"), 2);
  });
}

TEST(ForeignCode, ItsErrorEndsAllSessions) {
  on_ranks_with_code([](Code& code, CalledSession& session) {
    code.fails_in_step = session.rank() == 1 ? 1 : -1;
    session.step(0, 0.5);
    try {
      for (int step = 1; step < steps; ++step) session.step(step, 0.5);
      ADD_FAILURE() << "rank " << session.rank() << " went on";
    } catch (const Error& error) {
      if (session.rank() == 1) {
        EXPECT_THAT(error.what(), HasSubstr("the flux is 7"));
      }
    }
    EXPECT_EQ(trigram_has_ended(session), 1);
  });
}

TEST(ForeignCode, WhatNoLaneGivesIsRefused) {
  on_ranks_with_code([](Code&, CalledSession& session) { succeed(trigram_finish(session)); });
  trigram_hooks([](LaneOfCaller* lane, const char*) {
    EXPECT_THAT(message_of(trigram_lane_ask(lane, R"({"ask":"money"})")),
                HasSubstr("a hook needs 'money', which this program does not provide"));
    EXPECT_THAT(message_of(trigram_lane_ask(lane, "{}")), HasSubstr("'ask' not found"));
    const char* barrier = R"({"collective":"barrier","op":"sum","peer":0,"dtype":"u8","peers":[],"sent":0})";
    EXPECT_THAT(message_of(trigram_lane_call(lane, "half", barrier, nullptr, nullptr, 0)),
                HasSubstr("no group is called 'half'"));
    const char* mean = R"({"collective":"mean","op":"mean","peer":0,"dtype":"f32","peers":[],"sent":0})";
    EXPECT_THAT(message_of(trigram_lane_call(lane, "all", mean, nullptr, nullptr, 0)),
                HasSubstr("mean takes one buffer, not 0"));
    return 0;
  });
  Flags alone = own_algorithm();
  alone["backend"] = "shared_threads:ranks=1";
  CalledSession session(alone, {3});
  trigram_hooks(nullptr);
  succeed(session.adopt());
  succeed(trigram_finish(session));
}

TEST(ForeignCode, IsThatOfTheThreadWhichOpens) {
  EXPECT_THROW(CalledSession(own_algorithm(), {3}), UsageError) << "none was given";
}

}  // namespace
}  // namespace trigram::testing::foreign_code_test
