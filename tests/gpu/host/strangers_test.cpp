// Whoever else can reach rank 0's port: it hears nothing, takes nothing, ends nothing.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "core/values/error.hpp"
#include "meeting/handshake.hpp"
#include "meeting/store/store_server.hpp"
#include "tests/gpu/host/ranks.hpp"

namespace trigram::gpu {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::size_t open_files() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

class Strangers : public ::testing::Test {
 protected:
  const std::string where = MeetingPlace::tcp();
  const int port = std::stoi(where.substr(where.rfind(':') + 1));

  Socket connection() const {
    std::string reason;
    for (int tries = 0; tries < 1000; ++tries) {
      Socket socket = Socket::connect_to("127.0.0.1", port, reason);
      if (socket.open()) return socket;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw BackendError("no connection: " + reason);
  }

  /// A whole job of three ranks, the last of which comes after `stranger` has done what it does.
  std::vector<std::string> errors_of_a_job(const std::function<void()>& stranger) const {
    return errors_of(3, [&](int rank) {
      if (rank == 2) stranger();
      const auto meeting = meet(where, member_named(rank, 3), {20});
      ensure(text_of(meeting->all_gather(bytes_of(std::to_string(rank)), {20}).at(2)) == "2", "wrong bytes");
      meeting->leave();
    });
  }

  /// What the server says to one frame before it closes, in bytes.
  Bytes answer_to(const Bytes& frame) const {
    Socket stranger = connection();
    stranger.give_up_after(5);
    stranger.write(frame);
    Bytes heard;
    std::array<std::byte, 1> byte;
    try {
      while (stranger.read(byte)) heard.push_back(byte[0]);
    } catch (const BackendError&) {
      return heard;  // closed with bytes unread
    }
    return heard;
  }
};

TEST_F(Strangers, HearNothing) {
  EXPECT_THAT(errors_of_a_job([&] {
                for (const char* words : {"GET / HTTP/1.1\r\n\r\n", "trigram-rendezvous-1\n0\njob", "0123456789"})
                  EXPECT_THAT(answer_to(bytes_of(words)), SizeIs(0)) << words;
              }),
              Each(IsEmpty()));
}

TEST_F(Strangers, HaveNoMemoryAllocated) {
  EXPECT_THAT(errors_of_a_job([&] {
                Bytes size(8, std::byte{0});
                size[5] = std::byte{1};  // a tebibyte
                EXPECT_THAT(answer_to(size), SizeIs(0));
              }),
              Each(IsEmpty()));
}

TEST_F(Strangers, DoNotUseUpDescriptors) {
  std::vector<Socket> strangers;
  EXPECT_THAT(errors_of_a_job([&] {
                const std::size_t before = open_files();
                for (int i = 0; i < 300; ++i) strangers.push_back(connection());
                // Rank 0 closes those beyond in its own time, which may be long on a machine that does other things.
                std::size_t after = open_files();
                for (int tries = 0; tries < 1000 && after >= before + 300 + 80; ++tries) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(10));
                  after = open_files();
                }
                EXPECT_LT(after, before + 300 + 80) << "of 300, rank 0 keeps 70 at most";
              }),
              Each(IsEmpty()));
}

TEST_F(Strangers, WhoKnowsAnotherSecretIsTurnedAwayAndTold) {
  EXPECT_THAT(errors_of_a_job([&] {
                Member other = member_named(2, 3);
                other.secret = "another secret of the tests";
                const auto errors = errors_of(1, [&](int) { meet(where, other, {20}); });
                EXPECT_THAT(errors[0], AllOf(HasSubstr("rank 2 and what listens at " + where),
                                             HasSubstr("do not know one secret"), HasSubstr("TRIGRAM_SECRET")));
              }),
              Each(IsEmpty()));
}

TEST_F(Strangers, AreCountedWhereARankIsMissed) {
  const auto errors = errors_of(2, [&](int rank) {
    Member member = member_named(rank, 2);
    if (rank == 1) member.secret = "another secret of the tests";
    meet(where, member, {2});
  });
  EXPECT_THAT(errors[0],
              AllOf(HasSubstr("for rank 1, which did not come"), HasSubstr("did not prove to be of this job"),
                    HasSubstr("rank 0 listens at 127.0.0.1, which no other machine can reach")));
}

TEST_F(Strangers, ThatListenInRankZerosPlaceAreNotBelieved) {
  StoreServer server("127.0.0.1", port, member_named(0, 2), Secret("a secret of somebody else", "there"));
  const auto errors = errors_of(1, [&](int) { meet(where, member_named(1, 2), {20}); });
  EXPECT_THAT(errors[0], HasSubstr("do not know one secret"));
}

TEST_F(Strangers, RanksThatTheJobDoesNotHaveAreRefused) {
  EXPECT_THAT(errors_of_a_job([&] {
                const auto errors = errors_of(1, [&](int) { meet(where, member_named(7, 8), {20}); });
                EXPECT_THAT(errors[0], HasSubstr("rank 7 of 8, but rank 0 as one of 3"));
              }),
              Each(IsEmpty()));
}

TEST(Listening, IsDoneAtTheNamedAddressOnly) {
  const Listener listener("127.0.0.2", 0);
  std::string reason;
  EXPECT_TRUE(Socket::connect_to("127.0.0.2", listener.port(), reason).open());
  EXPECT_FALSE(Socket::connect_to("127.0.0.1", listener.port(), reason).open());
  EXPECT_TRUE(listener.local_only());
  EXPECT_TRUE(Listener("localhost", 0).local_only());
  EXPECT_FALSE(Listener("0.0.0.0", 0).local_only());
  EXPECT_THROW(Listener("192.0.2.1", 0), UsageError);  // an address for documents, of no machine
}

TEST(Connections, ReadWithinTheirDeadlineHoweverSlowlyBytesCome) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  Socket reader(ends[0]);
  Socket writer(ends[1]);
  std::atomic<bool> over = false;
  std::thread slow([&] {
    for (int i = 0; i < 1000 && !over; ++i) {
      writer.write(Bytes(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  reader.end_within(0.3);
  Bytes all(1000);
  EXPECT_THROW(reader.read(all), BackendError);
  over = true;
  slow.join();
}

}  // namespace
}  // namespace trigram::gpu
