// What waits for a path unsent, which no other path can carry any more.

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>

#include "net/connection/handle.hpp"
#include "net/stream/outlet.hpp"
#include "tests/net/plugin_under_test.hpp"

namespace trigram::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t least = 64 << 10;

/// Between two looks of the plugin's own thread.
std::uint64_t in_20_ms(double mbps) { return static_cast<std::uint64_t>(mbps * 1e6 / 8 * 0.02); }

TEST(Unsent, IsWhatAPathCarriesUntilACallerComesAgain) {
  const auto after_a_look = [](double mbps, net::Clock::duration gap) {
    net::UnsentLimit limit(least);
    limit.learn(in_20_ms(mbps), 20ms, gap);
    return limit.bytes();
  };
  EXPECT_EQ(net::Settings{}.unsent, least);
  EXPECT_EQ(after_a_look(0, 2ms), least);
  EXPECT_EQ(after_a_look(10, 2ms), least);
  EXPECT_EQ(after_a_look(10, 40ms), least);
  EXPECT_EQ(after_a_look(100, 40ms), 500000U);
  EXPECT_EQ(after_a_look(10000, 2ms), 2500000U);
  EXPECT_EQ(after_a_look(10000, 1ms), 1250000U);
  EXPECT_EQ(after_a_look(100000, 2ms), std::size_t{4 << 20});
}

TEST(Unsent, FollowsAPathThatSlows) {
  net::UnsentLimit limit(least);
  EXPECT_TRUE(limit.learn(in_20_ms(1000), 20ms, 2ms));
  EXPECT_EQ(limit.bytes(), 250000U);
  EXPECT_FALSE(limit.learn(in_20_ms(1200), 20ms, 2ms));
  EXPECT_FALSE(limit.learn(in_20_ms(600), 20ms, 2ms));
  EXPECT_TRUE(limit.learn(in_20_ms(100), 20ms, 2ms));
  EXPECT_EQ(limit.bytes(), least);
}

/// A connection over loopback whose peer says what the listener of a handle says, and reads nothing after it.
class UndrainedPath {
 public:
  UndrainedPath() {
    net::Settings settings;
    settings.interfaces = "=lo";
    const net::Interface lo = net::usable_interfaces(settings).front();
    net::Address address = lo.address;
    const net::Socket listener = net::Socket::listening(address);
    const net::Token answers = net::random_token();
    outlet_.emplace(net::Path{lo, address}, net::Hello{net::random_token(), net::random_token(), 0, 1}, answers,
                    net::Settings{});
    EXPECT_TRUE(soon([&] {
      outlet_->dial(net::Clock::now());
      if (!peer_.open()) {
        peer_ = listener.accept();
        if (peer_.open()) send(peer_.descriptor(), answers.data(), answers.size(), MSG_NOSIGNAL);
      }
      return outlet_->open();
    }));
  }

  net::Outlet& outlet() { return *outlet_; }
  /// Bytes that the kernel has and has not sent.
  std::size_t unsent() const {
    int bytes = 0;
    EXPECT_EQ(ioctl(outlet_->stream.socket().descriptor(), SIOCOUTQNSD, &bytes), 0);
    return static_cast<std::size_t>(bytes);
  }

 private:
  std::optional<net::Outlet> outlet_;
  net::Socket peer_;
};

/// The kernel counts in buffers of at most 64 KiB, the last of which may go over the limit.
TEST(Unsent, OfAPathThatIsNotDrainedIsBounded) {
  constexpr std::size_t one_buffer = 64 << 10;
  const auto bytes = pattern(16 << 20, 1);
  net::Outbox outbox(net::Settings{}.chunk, 0);
  net::Request request;
  outbox.add(bytes.data(), bytes.size(), 0, &request);
  ASSERT_TRUE(outbox.credit(0, 1));
  UndrainedPath path;
  auto now = net::Clock::now();
  EXPECT_TRUE(soon([&] {
    while (path.outlet().stream.flush() == net::Moved::some) path.outlet().begin(*outbox.draw(now));
    path.outlet().measure(now += 20ms, 2ms);
    EXPECT_LE(path.unsent(), least + one_buffer);
    return path.unsent() >= least;
  }));
  EXPECT_TRUE(outbox.draw(now)) << "all of the message went into a path that carries none of it";
}

/// What decides how fast a connection sends, by the system's name for it.
std::string control_of(const net::Socket& socket) {
  std::array<char, 16> name{};
  socklen_t length = name.size() - 1;
  EXPECT_EQ(getsockopt(socket.descriptor(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &length), 0);
  return name.data();
}

TEST(Unsent, WaitsForNoTimerWithinThisHost) {
  UndrainedPath path;
  EXPECT_EQ(control_of(path.outlet().stream.socket()), "reno");
}

/// Two addresses may be two hosts.
TEST(Unsent, BetweenTwoAddressesWaitsAsTheSystemSays) {
  net::Settings settings;
  settings.interfaces = "=lo";
  net::Interface lo = net::usable_interfaces(settings).front();
  net::Address other = lo.address;
  if (other.family() != AF_INET) GTEST_SKIP() << "loopback has one address of IPv6";
  other.host().back() = 2;
  const net::Socket listener = net::Socket::listening(other);
  const net::Socket socket = net::Socket::connecting(lo, other);
  ASSERT_TRUE(soon([&] { return socket.connected() == net::Moved::some; }));
  const std::string before = control_of(socket);
  socket.hurry_within_host();
  EXPECT_EQ(control_of(socket), before);
}

}  // namespace
}  // namespace trigram::tests
