// Seats of an epoch of members that come and go, and the way out of what they wait for.
#include <gmock/gmock.h>

#include <future>

#include "backends/gpu/host/way_out.hpp"
#include "meeting/store/epoch_meeting.hpp"
#include "tests/gpu/host/ranks.hpp"

namespace trigram::gpu {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

EpochSeat::Terms terms_of(int rank, int ranks, int port) {
  return {.rank = rank,
          .ranks = ranks,
          .host = "127.0.0.1",
          .port = port,
          .secret = "a secret of the tests",
          .patience = 20};
}

TEST(EpochSeats, MeetWhereRank0HasFoundAPort) {
  constexpr int ranks = 3;
  std::vector<std::unique_ptr<EpochSeat>> seats(ranks);
  seats[0] = std::make_unique<EpochSeat>(terms_of(0, ranks, 0));
  const int port = seats[0]->port();
  const auto errors = errors_of(ranks, [&](int rank) {
    auto& seat = seats[static_cast<std::size_t>(rank)];
    if (rank != 0) seat = std::make_unique<EpochSeat>(terms_of(rank, ranks, port));
    const auto meeting = seat->meet();
    const Rendezvous::Parts parts = meeting->all_gather(bytes_of(std::to_string(rank)), {20});
    ensure(text_of(parts.at(2)) == "2", "another rank's bytes");
    meeting->leave();
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(EpochSeats, AreTakenOnceAndByTheThreadThatHasThem) {
  keep_seat(std::make_unique<EpochSeat>(terms_of(0, 1, 0)));
  EXPECT_EQ(std::async(std::launch::async, take_seat).get(), nullptr);
  EXPECT_NE(take_seat(), nullptr);
  EXPECT_EQ(take_seat(), nullptr);
}

TEST(WaysOut, AreOpenedOnceForTheFirstReason) {
  WayOut way_out;
  EXPECT_NO_THROW(way_out.require_shut());
  way_out.ask("members change");
  way_out.ask("something else");
  EXPECT_EQ(way_out.asked(), "members change");
  EXPECT_NO_THROW(way_out.require_shut()) << "nothing has been aborted yet";
  way_out.open("rank 1 is gone");
  way_out.open("rank 2 is gone");
  EXPECT_THAT([&] { way_out.require_shut(); }, ThrowsMessage<BackendError>("rank 1 is gone"));
}

}  // namespace
}  // namespace trigram::gpu
