// Calls in a wrong order, with wrong values, and after the end: each is an error with its reason, of which the other
// ranks learn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "tests/session/caller.hpp"

namespace trigram::testing::misuse_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr int ranks = 2;
const std::vector<int>& counts() {
  static const std::vector<int> all{4, 3};
  return all;
}

struct Misuse {
  std::string name;
  bool adopts = true;  ///< before it
  bool begins = true;
  std::function<int(CalledSession&)> call;
  std::string text;
};

int state_of(Session* session) {
  const char* bytes = nullptr;
  std::int64_t count = 0;
  return trigram_state(session, &bytes, &count);
}

std::vector<Misuse> misuses() {
  const std::string adopt_first = "'adopt' must be called first";
  return {
      {"BeginBeforeAdopt", false, false, [](CalledSession& one) { return trigram_begin(one, 0.1); }, adopt_first},
      {"TensorBeforeAdopt", false, false, [](CalledSession& one) { return trigram_tensor_ready(one, 0); }, adopt_first},
      {"EndBeforeAdopt", false, false, [](CalledSession& one) { return trigram_end(one); }, adopt_first},
      {"StateBeforeAdopt", false, false, [](CalledSession& one) { return state_of(one); }, adopt_first},
      {"FinishBeforeAdopt", false, false, [](CalledSession& one) { return trigram_finish(one); }, adopt_first},
      {"AdoptTwice", true, false, [](CalledSession& one) { return one.adopt(); }, "'adopt' was called twice"},
      {"TensorBeforeBegin", true, false, [](CalledSession& one) { return trigram_tensor_ready(one, 0); },
       "'tensor_ready' of tensor 'p0' in bucket 0 was called, but 'begin' must be called next"},
      {"BeginTwice", true, true, [](CalledSession& one) { return trigram_begin(one, 0.1); },
       "'begin' of step 0 was called, but 'bucket_ready' of bucket 0 must be called next, which waits for 'p1', 'p0'"},
      {"TensorThatIsNotThere", true, true, [](CalledSession& one) { return trigram_tensor_ready(one, 7); },
       "'tensor_ready' of tensor 7 was called, but no bucket has that tensor; there are 2"},
      {"TensorTwice", true, true,
       [](CalledSession& one) {
         succeed(trigram_tensor_ready(one, 1));
         return trigram_tensor_ready(one, 1);
       },
       "was called twice; call it once per step"},
      {"EndBeforeGradients", true, true, [](CalledSession& one) { return trigram_end(one); },
       "'updated', when the loop's optimizer has stepped, was called, but 'bucket_ready' of bucket 0 must be called "
       "next"},
      {"StateInAStep", true, true, [](CalledSession& one) { return state_of(one); }, "which is for between two steps"},
      {"FinishInAStep", true, true, [](CalledSession& one) { return trigram_finish(one); },
       "'finish' was called, but"}};
}

/// Of a rank that waited for another one: not that it has waited too long.
auto released() { return HasSubstr("ends since rank 1 failed: "); }

class Misused : public ::testing::TestWithParam<Misuse> {};

TEST_P(Misused, IsAnErrorThatEndsTheSessionsOfAllRanks) {
  const Misuse& misuse = GetParam();
  on_ranks(ranks, [&] {
    CalledSession session(job_of(ranks), counts());
    if (misuse.adopts) succeed(session.adopt());
    if (misuse.begins) succeed(trigram_begin(session, 0.1));
    if (session.rank() == 1) {
      EXPECT_THAT(message_of(misuse.call(session)), HasSubstr(misuse.text));
    } else {
      float waits = 0;
      EXPECT_THAT(message_of(trigram_sum(session, reinterpret_cast<std::uintptr_t>(&waits), 1)), released());
    }
    EXPECT_EQ(trigram_has_ended(session), 1);
    for (const auto& call : {trigram_gradients_end, trigram_end, trigram_finish, state_of})
      EXPECT_EQ(message_of(call(session)), "the session has ended; nothing can follow");
    EXPECT_EQ(message_of(session.adopt()), "the session has ended; nothing can follow");
    trigram_fail(session, "which changes nothing any more");
  });
}

INSTANTIATE_TEST_SUITE_P(Calls, Misused, ::testing::ValuesIn(misuses()),
                         [](const auto& misuse) { return misuse.param.name; });

TEST(Ends, ALoopThatFailsReleasesTheOthers) {
  on_ranks(ranks, [] {
    CalledSession session(job_of(ranks), counts());
    succeed(session.adopt());
    succeed(trigram_begin(session, 0.1));
    if (session.rank() == 1) return trigram_fail(session, "the flux is 7");
    EXPECT_THAT(message_of(trigram_gradients_end(session)), released());
    EXPECT_EQ(trigram_has_ended(session), 1);
  });
}

TEST(Ends, ASessionThatIsClosedEarlyReleasesTheOthers) {
  on_ranks(ranks, [] {
    CalledSession session(job_of(ranks), counts());
    succeed(session.adopt());
    succeed(trigram_begin(session, 0.1));
    if (session.rank() == 1) return;
    EXPECT_THAT(message_of(trigram_gradients_end(session)), released());
  });
}

TEST(Refused, BeforeAnyRankStarts) {
  const auto opens = [](const Flags& flags, const std::vector<int>& parameters) {
    return [=] { CalledSession(flags, parameters); };
  };
  const auto refused = [](const std::string& text) { return ThrowsMessage<UsageError>(HasSubstr(text)); };
  EXPECT_THAT(opens(job_of(ranks, {{"algorithm", "nope"}}), counts()), refused("unknown algorithm 'nope'"));
  EXPECT_THAT(opens(job_of(ranks, {{"lans", "2"}}), counts()), refused("lans"));
  EXPECT_THAT(opens(job_of(ranks), {}), refused("the model has no parameter that requires a gradient"));
  EXPECT_THAT(opens(job_of(ranks, {{"algorithm", "one_bit_adam"}}), counts()), refused("steps the weights by itself"));
  EXPECT_THAT(opens(job_of(ranks, {{"algorithm", "parameter_server"}}), counts()), refused("servers"));
  EXPECT_THAT(opens({{"backend", "threads"}, {"lanes", "0"}}, counts()), refused("lanes"));
  Session* none = nullptr;
  EXPECT_THAT(message_of(trigram_open("{no json", &none)), HasSubstr("parse error"));
  EXPECT_THAT(message_of(trigram_require_gradients_only("local_sgd", "for a hook")),
              HasSubstr("works on more than gradients, for a hook"));
  EXPECT_EQ(trigram_require_gradients_only("bytegrad", "for a hook"), 0);
  trigram_close(none);
}

TEST(Refused, StatesOfSomethingElse) {
  on_ranks(ranks, [] {
    std::string kept;
    {
      CalledSession session(job_of(ranks, {{"algorithm", "bytegrad:error_feedback=on"}}), counts());
      succeed(session.adopt());
      session.step(0, 0.1);
      const char* bytes = nullptr;
      std::int64_t count = 0;
      succeed(trigram_state(session, &bytes, &count));
      kept.assign(bytes, static_cast<std::size_t>(count));
      succeed(trigram_finish(session));
    }
    const auto go_on = [&](const std::string& algorithm, std::size_t length) {
      CalledSession session(job_of(ranks, {{"algorithm", algorithm}}), counts());
      succeed(session.adopt());
      return message_of(
          trigram_go_on_from(session, std::string(kept, 0, length).data(), static_cast<std::int64_t>(length)));
    };
    EXPECT_THAT(go_on("qsgd", kept.size()),
                HasSubstr("the state is of algorithm 'bytegrad:error_feedback=on', and this"));
    for (const std::size_t length : {std::size_t{0}, std::size_t{7}, kept.size() / 2, kept.size() - 1})
      EXPECT_FALSE(go_on("bytegrad:error_feedback=on", length).empty()) << length;
  });
}

TEST(Refused, MemoryThatIsNotTheModels) {
  on_ranks(ranks, [] {
    CalledSession session(job_of(ranks), counts());
    const std::vector<float> memory(7);
    const auto begin = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(memory.data()));
    const std::uint64_t places[] = {begin, begin + 16};
    const std::int64_t lengths[] = {4, 2};
    EXPECT_THAT(message_of(trigram_adopt(session, places, places, lengths, 2)),
                HasSubstr("are 2 elements, but the parameter has 3"));
  });
}

}  // namespace
}  // namespace trigram::testing::misuse_test
