// Ranks that meet by file and by TCP: what they exchange, and what they are told when somebody is missing or wrong.
#include <gmock/gmock.h>

#include <atomic>

#include "backends/process/host_exchange.hpp"
#include "core/values/error.hpp"
#include "meeting/store/file_store.hpp"
#include "meeting/store/store_rendezvous.hpp"
#include "meeting/store/tcp_store.hpp"
#include "processes/child_process.hpp"
#include "tests/gpu/host/ranks.hpp"

namespace trigram::gpu {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Rendezvouses : public ::testing::TestWithParam<const char*> {
 protected:
  MeetingPlace place;
  const std::string where = GetParam() == std::string("file") ? place.file() : MeetingPlace::tcp();
  static constexpr Patience patience{20};

  std::unique_ptr<Store> store_for(const Member& member) const {
    if (GetParam() == std::string("file")) return std::make_unique<FileStore>(place.path(), member, patience.seconds);
    const int port = std::stoi(where.substr(where.rfind(':') + 1));
    return std::make_unique<TcpStore>("127.0.0.1", port, member, patience.seconds);
  }
};
INSTANTIATE_TEST_SUITE_P(By, Rendezvouses, ::testing::Values("file", "tcp"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(Rendezvouses, EveryRankGetsEverybodysBytesInRankOrder) {
  constexpr int ranks = 4;
  const auto errors = errors_of(ranks, [&](int rank) {
    const auto meeting = meet(where, member_named(rank, ranks), patience);
    for (int round = 0; round < 20; ++round) {
      const std::string own(static_cast<std::size_t>(rank * round), static_cast<char>('a' + rank));
      const Rendezvous::Parts parts = meeting->all_gather(bytes_of(own), patience);
      for (int r = 0; r < ranks; ++r) {
        const std::string expected(static_cast<std::size_t>(r * round), static_cast<char>('a' + r));
        ensure(text_of(parts.at(static_cast<std::size_t>(r))) == expected,
               "wrong bytes in round " + std::to_string(round));
      }
    }
    const Rendezvous::Parts gathered = meeting->gather(bytes_of(std::to_string(rank)), patience);
    ensure(gathered.size() == (rank == 0 ? ranks : 0), "parts on the wrong rank");
    if (rank == 0) ensure(text_of(gathered[3]) == "3", "wrong part");
    meeting->barrier(patience);
    meeting->leave();
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(Rendezvouses, NotesAreThereForAllAndNobodyWaitsForOne) {
  const auto errors = errors_of(2, [&](int rank) {
    const auto meeting = meet(where, member_named(rank, 2), patience);
    ensure(!meeting->noted("of rank 1"), "a note that nobody has left");
    meeting->barrier(patience);
    if (rank == 1) meeting->note("of rank 1", "3 steps");
    meeting->barrier(patience);
    ensure(meeting->noted("of rank 1") == "3 steps" && !meeting->noted("of rank 0"), "another note");
    meeting->leave();
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(TcpStores, HaveTheirPortBeforeTheyTellIt) {
  const TcpStore first("127.0.0.1", 0, member_named(0, 2), 20), second("127.0.0.1", 0, member_named(0, 2), 20);
  EXPECT_NE(first.port(), second.port());
  EXPECT_THROW(Listener("127.0.0.1", first.port()), UsageError);
}

TEST(Sockets, AskNothingMoreOnceTheyHaveGivenUpAnAnswer) {
  Listener listener("127.0.0.1", 0);
  std::string reason;
  Socket asks = Socket::connect_to("127.0.0.1", listener.port(), reason), answers = listener.accept();
  asks.give_up_after(0.02);
  Bytes answer;
  EXPECT_THROW(asks.read_frame(answer, 100), BackendError);
  EXPECT_THROW(asks.write_frame(bytes_of("the next question")), BackendError);
  EXPECT_FALSE(answers.read_frame(answer, 100)) << "who answers late has nobody to answer";
}

TEST_P(Rendezvouses, MegabytesTravelWhole) {
  const auto errors = errors_of(2, [&](int rank) {
    const auto meeting = meet(where, member_named(rank, 2), patience);
    const Bytes own(5'000'000, static_cast<std::byte>(rank + 1));
    const Rendezvous::Parts parts = meeting->all_gather(own, patience);
    ensure(parts[0] == Bytes(5'000'000, std::byte{1}) && parts[1] == Bytes(5'000'000, std::byte{2}), "bytes changed");
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(Rendezvouses, ALateRankIsWaitedFor) {
  const auto errors = errors_of(3, [&](int rank) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300 * ((rank + 1) % 3)));  // rank 1 is last, rank 0 not first
    meet(where, member_named(rank, 3), patience)->barrier(patience);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(Rendezvouses, WhoHasNotComeYetIsNotSilent) {
  constexpr HeartbeatTimes quick{0.05, 1};
  const auto errors = errors_of(3, [&](int rank) {
    if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1600));
    StoreRendezvous(store_for(member_named(rank, 3)), member_named(rank, 3), patience, quick).barrier(patience);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(Rendezvouses, WhoHasComeAndFallsSilentIsNoticed) {
  constexpr HeartbeatTimes quick{0.02, 0.5};
  std::atomic<bool> noticed = false;
  const auto errors = errors_of(2, [&](int rank) {
    const auto store = store_for(member_named(rank, 2));
    if (rank == 1) {
      store->claim("hello/1", bytes_of("2 process 17 on node0"));  // and never a sign of life
      while (!noticed) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    try {
      StoreRendezvous(store->another(), member_named(0, 2), patience, quick).barrier({});
    } catch (const BackendError&) {
      noticed = true;
      throw;
    }
  });
  EXPECT_THAT(errors[0], HasSubstr("gives up since rank 1 failed: its process has given no sign of life for "));
}

TEST_P(Rendezvouses, AMissingRankIsNamed) {
  const auto errors = errors_of(2, [&](int index) {
    const int rank = index == 0 ? 0 : 2;  // of four ranks, 1 and 3 never come
    meet(where, member_named(rank, 4), {1});
  });
  // One gives up first and says so; the other may hear of that before its own time is over.
  EXPECT_THAT(errors,
              Each(HasSubstr("of 4 has waited 1 s at " + where + " for rank 1 and rank 3, which did not come")));
}

TEST_P(Rendezvouses, DifferentWorldSizesAreRefused) {
  const auto errors = errors_of(2, [&](int rank) { meet(where, member_named(rank, 2 + rank), {5}); });
  EXPECT_THAT(errors, Each(AnyOf(HasSubstr("was started as one of 2, but rank 1 as one of 3"),
                                 HasSubstr("was started as one of 3, but rank 0 as one of 2"))));
}

TEST_P(Rendezvouses, OfTwoProcessesWithOneNumberTheSecondIsRefused) {
  const auto errors = errors_of(3, [&](int index) {
    const int rank = index == 0 ? 0 : 1;  // rank 2 never comes
    meet(where, member_named(rank, 3), {2});
  });
  const std::string doubles = "two processes call themselves rank 1 at " + where;
  EXPECT_THAT(errors, ::testing::Contains(AllOf(HasSubstr(doubles), HasSubstr("give each a number of its own"))));
  EXPECT_THAT(errors[0], AllOf(HasSubstr("for rank 2, which did not come"), HasSubstr(doubles)));
}

TEST_P(Rendezvouses, ADoubleDoesNotEndTheJobWhosePlaceItWants) {
  std::atomic<int> met = 0;
  std::atomic<bool> refused = false;
  const auto errors = errors_of(3, [&](int index) {
    if (index < 2) {
      const auto meeting = meet(where, member_named(index, 2), patience);
      ++met;
      while (meeting->all_gather(Bytes(refused ? 1 : 0), patience).front().empty()) continue;
      return meeting->leave();
    }
    while (met < 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    try {
      meet(where, member_named(1, 2), patience);
    } catch (const UsageError&) {
      refused = true;
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(Rendezvouses, APublishedFailureEndsTheWaitsOfOthers) {
  const auto errors = errors_of(3, [&](int rank) {
    const auto meeting = meet(where, member_named(rank, 3), patience);
    if (rank == 1) return meeting->publish({1, "the flux of rank 1 is 7"});
    meeting->barrier({});
  });
  EXPECT_THAT(errors[0], HasSubstr("rank 0 gives up since rank 1 failed: the flux of rank 1 is 7"));
  EXPECT_THAT(errors[2], HasSubstr("rank 2 gives up since rank 1 failed: the flux of rank 1 is 7"));
}

/// Rank 1 is a process that is killed while the others wait for it.
TEST_P(Rendezvouses, ADeadPeerIsNoticed) {
  const auto ranks = [&](int rank) {
    return [this, rank](HomeLine& home) {
      const auto meeting = meet(where, member_named(rank, 3), patience);
      if (rank == 1) raise(SIGKILL);
      try {
        meeting->barrier({});
      } catch (const BackendError& error) {
        home.send_result(bytes_of(error.what()));
      }
    };
  };
  ChildProcess zero("rank 0", ranks(0)), one("rank 1", ranks(1)), two("rank 2", ranks(2));
  for (ChildProcess* child : {&zero, &two}) {
    while (!child->ended()) child->read_some();
    EXPECT_THAT(text_of(child->result()), HasSubstr("gives up since rank 1 failed: its process has"));
  }
}

TEST_P(Rendezvouses, ControlReducesAndCollects) {
  constexpr int ranks = 3;
  const auto errors = errors_of(ranks, [&](int rank) {
    const auto meeting = meet(where, member_named(rank, ranks), patience);
    HostExchange control(*meeting, patience);
    ensure(control.agree(rank + 1, ReduceOp::sum) == 6 && control.agree(rank + 1, ReduceOp::min) == 1 &&
               control.agree(rank + 1, ReduceOp::max) == 3 && control.agree(3 * rank, ReduceOp::mean) == 3,
           "agreed on something else");
    const auto parts = control.gather(17, Bytes(static_cast<std::size_t>(rank), std::byte{9}));
    ensure(parts.size() == (rank == 0 ? ranks : 0), "parts on the wrong rank");
    control.barrier();
    meeting->leave();
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(Rendezvouses, CollectionsOfDifferentKeysAreRefused) {
  const auto errors = errors_of(2, [&](int rank) {
    const auto meeting = meet(where, member_named(rank, 2), patience);
    HostExchange(*meeting, patience).gather(rank, {});
  });
  EXPECT_THAT(errors, Each(HasSubstr("is at another evaluation or checkpoint than some other rank")));
}

TEST(FileRendezvous, NothingIsLeftBehind) {
  const MeetingPlace place;
  const auto errors = errors_of(3, [&](int rank) {
    const auto meeting = meet(place.file(), member_named(rank, 3), {20});
    meeting->barrier({20});
    meeting->leave();
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
  EXPECT_FALSE(std::filesystem::exists(place.path()));
}

TEST(FileRendezvous, JobsShareAFolder) {
  const MeetingPlace place;
  EXPECT_THAT(errors_of_two_jobs(place, "left", "right"), Each(IsEmpty()));
}

TEST(FileRendezvous, AFolderThatCannotBeIsRefused) {
  EXPECT_THROW(meet("file:/proc/nowhere", member_named(0, 1), {5}), UsageError);
  EXPECT_THROW(meet("file:", member_named(0, 1), {5}), UsageError);
}

TEST(TcpRendezvous, AnotherJobIsTurnedAwayAndTold) {
  const std::string where = MeetingPlace::tcp();
  const auto errors =
      errors_of(2, [&](int rank) { meet(where, member_named(rank, 2, "restart-" + std::to_string(rank)), {2}); });
  EXPECT_THAT(errors[1], HasSubstr("it belongs to job 'restart-1', not to job 'restart-0'"));
  EXPECT_THAT(errors[0], AllOf(HasSubstr("for rank 1, which did not come"), HasSubstr("was turned away")));
}

TEST(TcpRendezvous, NobodyListeningIsSaidWithHostAndPort) {
  const auto errors = errors_of(1, [&](int) { meet("tcp:127.0.0.1:9", member_named(1, 2), {0.3}); });
  EXPECT_THAT(errors[0],
              AllOf(HasSubstr("for rank 0, which did not answer at 127.0.0.1:9"), HasSubstr("is it started")));
}

TEST(TcpRendezvous, APortInUseIsRefused) {
  const Listener taken("127.0.0.1", 0);
  const auto errors =
      errors_of(1, [&](int) { meet("tcp:127.0.0.1:" + std::to_string(taken.port()), member_named(0, 2), {1}); });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("cannot listen at 127.0.0.1"), HasSubstr("TRIGRAM_PORT")));
}

TEST(Meetings, UnknownKindsAndPlacesAreRefused) {
  EXPECT_THROW(meet("pigeon:coop", member_named(0, 1), {1}), UsageError);
  for (const char* where : {"tcp:", "tcp:host", "tcp::80", "tcp:host:0", "tcp:host:65536", "tcp:host:8x"}) {
    EXPECT_THROW(meet(where, member_named(0, 1), {1}), UsageError) << where;
  }
}

}  // namespace
}  // namespace trigram::gpu
