// Forked ranks: results, errors, deaths.
#include "meeting/local_ranks.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>

#include "core/values/error.hpp"
#include "meeting/rendezvous.hpp"
#include "processes/child_process.hpp"

namespace trigram::gpu {
namespace {

using ::testing::HasSubstr;

template <class Expected>
std::string error_of(const std::function<Bytes(const LocalRank&)>& body) {
  try {
    run_local_ranks(3, body);
  } catch (const Expected& error) {
    return error.what();
  }
  return "no error";
}

/// Meets the others and waits for them forever.
Bytes wait_for_all(const LocalRank& self) {
  const auto meeting = meet(self.member.rendezvous, self.member, {20});
  meeting->barrier({});
  meeting->barrier({});
  return {};
}

TEST(LocalRanks, MeetAndBringTheirResultsHomeInRankOrder) {
  const std::vector<Bytes> results = run_local_ranks(4, [](const LocalRank& self) {
    const auto meeting = meet(self.member.rendezvous, self.member, {20});
    const Rendezvous::Parts all = meeting->all_gather(bytes_of(std::to_string(self.member.rank)), {20});
    meeting->leave();
    std::string text = std::to_string(self.member.rank) + ":";
    for (const Bytes& part : all) text += text_of(part);
    return bytes_of(text + std::string(300'000, 'x'));  // more than a pipe holds
  });
  ASSERT_EQ(results.size(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(text_of(results[static_cast<std::size_t>(rank)]).substr(0, 6), std::to_string(rank) + ":0123");
  }
}

TEST(LocalRanks, AnErrorKeepsItsTypeAndEndsTheOthers) {
  EXPECT_EQ(error_of<UsageError>([](const LocalRank& self) -> Bytes {
              if (self.member.rank == 1) throw UsageError("the flux of rank 1 is 7");
              return wait_for_all(self);
            }),
            "the flux of rank 1 is 7");
}

TEST(LocalRanks, ADeadRankIsNamedWithItsSignalOrExitCode) {
  EXPECT_THAT(error_of<BackendError>([](const LocalRank& self) {
                if (self.member.rank == 2) raise(SIGKILL);
                return wait_for_all(self);
              }),
              HasSubstr("rank 2 was ended by signal 9"));
  EXPECT_THAT(error_of<BackendError>([](const LocalRank& self) {
                if (self.member.rank == 0) _exit(7);
                return wait_for_all(self);
              }),
              HasSubstr("rank 0 ended with exit code 7 before it had a result"));
}

TEST(LocalRanks, AReportedErrorCountsEvenIfItsRankHangs) {
  EXPECT_EQ(error_of<BackendError>([](const LocalRank& self) -> Bytes {
              if (self.member.rank != 1) return wait_for_all(self);
              self.report(CarriedError::of(std::make_exception_ptr(BackendError("all_reduce number 3 is stuck"))));
              self.report(CarriedError::of(std::make_exception_ptr(UsageError("a consequence"))));
              while (true) pause();
            }),
            "all_reduce number 3 is stuck");
}

TEST(LocalRanks, NoneOutlivesTheRun) {
  std::vector<Bytes> ids;
  try {
    run_local_ranks(2, [](const LocalRank& self) -> Bytes {
      if (self.member.rank == 0) throw UsageError(std::to_string(getpid()));
      while (true) pause();
    });
  } catch (const UsageError& error) {
    EXPECT_EQ(kill(std::stoi(error.what()), 0), -1);
    EXPECT_EQ(errno, ESRCH);
    return;
  }
  FAIL() << "the error was lost";
}

TEST(AskAChild, BringsAnswersAndErrorsHome) {
  EXPECT_EQ(text_of(run_in_child("a child", [] { return bytes_of("3"); })), "3");
  EXPECT_THROW(run_in_child("a child", []() -> Bytes { throw UsageError("no"); }), UsageError);
  EXPECT_THROW(run_in_child("a child", []() -> Bytes { std::abort(); }), BackendError);
}

}  // namespace
}  // namespace trigram::gpu
