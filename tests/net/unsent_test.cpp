// What waits for a path unsent, which no other path can carry any more.

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

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

}  // namespace
}  // namespace trigram::tests
