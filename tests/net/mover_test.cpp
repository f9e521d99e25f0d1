// Threads that move large messages, and how many there are.

#include "net/stream/mover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/connection/listener.hpp"
#include "net/send_comm.hpp"
#include "net/stream/own_thread.hpp"
#include "tests/net/plugin_under_test.hpp"

namespace trigram::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

net::Settings loopback() {
  net::Settings settings;
  settings.interfaces = "=lo";
  return settings;
}

net::Interface named(const std::string& name, int speed) {
  net::Interface interface;
  interface.name = name;
  interface.speed = speed;
  return interface;
}

/// Both ends of a connection, which nobody but the case looks after.
struct Pair {
  Pair() {
    const auto interfaces = net::usable_interfaces(loopback());
    const auto listener = std::make_shared<net::Listener>(interfaces, net::Settings{});
    sender = std::make_shared<net::SendComm>(listener->handle(), interfaces, net::Settings{});
    bool connected = false;
    EXPECT_TRUE(soon([&] {
      connected = connected || sender->connected();
      if (!receiver) receiver = listener->accept();
      return connected && receiver;
    }));
  }
  ~Pair() {
    sender->close();
    receiver->close();
  }

  std::shared_ptr<net::SendComm> sender;
  std::shared_ptr<net::RecvComm> receiver;
};

TEST(Mover, CarriesMessagesThatNoCallerAsksAbout) {
  net::Mover mover({});
  Pair both;
  for (const std::shared_ptr<net::Comm>& comm :
       {std::shared_ptr<net::Comm>(both.sender), std::shared_ptr<net::Comm>(both.receiver)}) {
    comm->moved_by(mover);
    mover.add(comm);
  }
  for (unsigned i = 0; i < 3; ++i) {
    const auto sent = pattern(4 << 20, i);
    std::vector<std::byte> received(sent.size());
    void* data = received.data();
    const std::size_t size = received.size();
    const int tag = 7;
    net::Request* receive = both.receiver->irecv(1, &data, &size, &tag);
    net::Request* send = both.sender->isend(sent.data(), sent.size(), tag);
    EXPECT_TRUE(soon([&] { return receive->done() && send->done(); }));
    EXPECT_EQ(received, sent);
    int done = 0;
    both.receiver->test(*receive, &done, nullptr);
    both.sender->test(*send, &done, nullptr);
  }
}

/// As where it ends with the plugin's last use: it has nothing left, and begins again.
TEST(Mover, OutlivesItsCommunicators) {
  net::Mover mover({});
  for (int i = 0; i < 3; ++i) {
    Pair both;
    mover.add(both.sender);
    mover.add(both.receiver);
  }
}

TEST(Processors, AreReadFromListsOfTheKernel) {
  EXPECT_THAT(net::processors_of("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(net::processors_of("5"), ElementsAre(5));
  EXPECT_THAT(net::processors_of(""), IsEmpty());
  EXPECT_THAT(net::processors_near(named("no_such_interface", 0), net::usable_processors()), IsEmpty());
}

TEST(Processors, AndSpeedSayHowManyMovers) {
  const auto movers = [](int asked, std::vector<int> speeds, std::size_t processors) {
    std::vector<net::Interface> interfaces;
    for (const int speed : speeds) interfaces.push_back(named("eth", speed));
    net::Settings settings;
    settings.threads = asked;
    return net::movers_for(settings, interfaces, processors);
  };
  EXPECT_EQ(movers(-1, {10000}, 64), 0);
  EXPECT_EQ(movers(-1, {100000}, 64), 4);
  EXPECT_EQ(movers(-1, {100000, 100000}, 16), 4);
  EXPECT_EQ(movers(-1, {100000}, 2), 0);
  EXPECT_EQ(movers(3, {10000}, 2), 3);
  EXPECT_EQ(movers(0, {400000}, 256), 0);
}

TEST(Processors, AreNotCountedWhereTheEnvironmentSaysHowManyMovers) {
  const Variable of_nccl("NCCL_SOCKET_NTHREADS", "3");
  const Variable unset("TRIGRAM_NET_THREADS", "");
  EXPECT_EQ(net::settings_of_environment().threads, 3);
  const Variable ours("TRIGRAM_NET_THREADS", "1");
  EXPECT_EQ(net::settings_of_environment().threads, 1);
}

}  // namespace
}  // namespace trigram::tests
