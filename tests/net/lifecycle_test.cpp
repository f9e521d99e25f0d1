// How communicators begin and end.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "net/connection/handle.hpp"
#include "tests/net/plugin_under_test.hpp"

namespace trigram::tests {
namespace {

std::size_t open_files() {
  const auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

bool any_has(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(text) != std::string::npos; });
}

TEST(Lifecycle, ConnectingAndAcceptingWaitForNobody) {
  const auto plugin = load_plugin(plugin_under_test());
  ASSERT_EQ(plugin->init(), Result::success);
  HandleOfTest handle{};
  void* listener = nullptr;
  ASSERT_EQ(plugin->listen(handle.data(), &listener), Result::success);
  void* receiver = &handle;
  EXPECT_EQ(plugin->accept(listener, &receiver), Result::success);
  EXPECT_EQ(receiver, nullptr);
  void* sender = &handle;
  EXPECT_EQ(plugin->connect(handle.data(), &sender), Result::success);
  EXPECT_NE(sender, &handle);  // null, or the connection of a plugin that need not wait for the peer to accept it
  EXPECT_TRUE(soon([&] {
    if (!sender) {
      EXPECT_EQ(plugin->connect(handle.data(), &sender), Result::success);
    }
    if (!receiver) {
      EXPECT_EQ(plugin->accept(listener, &receiver), Result::success);
    }
    return sender && receiver;
  }));
  EXPECT_EQ(plugin->close_send(sender), Result::success);
  EXPECT_EQ(plugin->close_receive(receiver), Result::success);
  EXPECT_EQ(plugin->close_listen(listener), Result::success);
  EXPECT_EQ(plugin->finalize(), Result::success);
}

TEST(Lifecycle, AListenerTakesSeveralPeersAndLeavesNothing) {
  const auto plugin = load_plugin(plugin_under_test());
  ASSERT_EQ(plugin->init(), Result::success);
  const std::size_t files = open_files();
  HandleOfTest handles[100]{};
  void* listeners[100]{};
  void* senders[100]{};
  void* receivers[100]{};
  for (int i = 0; i < 100; ++i) {
    // Every second peer connects to the listener of the one before.
    if (i % 2 == 0) {
      ASSERT_EQ(plugin->listen(handles[i].data(), &listeners[i]), Result::success);
    }
    if (i % 2 == 1) handles[i] = handles[i - 1];
  }
  ASSERT_TRUE(soon([&] {
    int connected = 0;
    for (int i = 0; i < 100; ++i) {
      if (!senders[i]) {
        EXPECT_EQ(plugin->connect(handles[i].data(), &senders[i]), Result::success);
      }
      if (!receivers[i]) {
        EXPECT_EQ(plugin->accept(listeners[i - i % 2], &receivers[i]), Result::success);
      }
      connected += senders[i] && receivers[i];
    }
    return connected == 100;
  }));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(plugin->close_send(senders[i]), Result::success);
    EXPECT_EQ(plugin->close_receive(receivers[i]), Result::success);
    if (listeners[i]) {
      EXPECT_EQ(plugin->close_listen(listeners[i]), Result::success);
    }
  }
  EXPECT_TRUE(soon([&] { return open_files() <= files; }));
  EXPECT_EQ(plugin->finalize(), Result::success);
}

TEST(Lifecycle, SixteenCommunicatorsAreOfOneProcess) {
  std::vector<std::unique_ptr<LoadedPlugin>> uses;
  std::vector<std::unique_ptr<Connected>> pairs;
  for (int i = 0; i < 16; ++i) {
    uses.push_back(load_plugin(plugin_under_test()));
    ASSERT_EQ(uses.back()->init(), Result::success);
    pairs.push_back(std::make_unique<Connected>(*uses.back()));
  }
  const auto carry = [](Connected& both) {
    for (unsigned i = 0; i < 20; ++i) {
      const auto sent = pattern(5000 * i, i);
      std::vector<std::byte> received(sent.size());
      EXPECT_EQ(both.wait_both(both.send(sent.data(), sent.size()), both.receive(received.data(), received.size())),
                static_cast<int>(sent.size()));
      EXPECT_EQ(sent, received);
    }
  };
  std::vector<std::thread> threads;
  for (auto& pair : pairs) threads.emplace_back(carry, std::ref(*pair));
  for (auto& thread : threads) thread.join();
  // The first use ends; the others go on.
  pairs.front().reset();
  EXPECT_EQ(uses.front()->finalize(), Result::success);
  carry(*pairs.back());
  pairs.clear();
  for (int i = 1; i < 16; ++i) EXPECT_EQ(uses[static_cast<std::size_t>(i)]->finalize(), Result::success);
}

TEST(Lifecycle, AFailedInitSaysWhyAndIsFollowedByFinalize) {
  SKIP_UNLESS_OURS();
  take_warnings();
  const auto plugin = load_plugin(plugin_under_test());
  {
    const Variable variable("TRIGRAM_NET_INTERFACES", "nothing_has_this_name");
    EXPECT_NE(plugin->init(), Result::success);
    EXPECT_EQ(plugin->finalize(), Result::success);
  }
  const auto warnings = take_warnings();
  EXPECT_TRUE(any_has(warnings, "nothing_has_this_name") && any_has(warnings, "lo"))
      << testing::PrintToString(warnings);
  for (const auto& [name, value] : {std::pair{"TRIGRAM_NET_CHUNK", "5000"},
                                    {"TRIGRAM_NET_STREAMS", "many"},
                                    {"TRIGRAM_NET_THREADS", "17"},
                                    {"NCCL_SOCKET_FAMILY", "AF_UNIX"}}) {
    const Variable variable(name, value);
    EXPECT_EQ(plugin->init(), Result::invalid_argument) << name;
    EXPECT_EQ(plugin->finalize(), Result::success);
    EXPECT_TRUE(any_has(take_warnings(), value)) << name;
  }
  Connected();  // and nothing of it stays
}

TEST(Lifecycle, ClosesWithMessagesInFlight) {
  for (const bool sender_first : {true, false}) {
    Connected both;
    std::vector<std::byte> memory(8 << 20);
    both.receive(memory.data(), memory.size());
    const auto bytes = pattern(memory.size(), 1);
    void* send = both.send(bytes.data(), bytes.size());
    for (int i = 0; i < 10; ++i) both.over(send);
    if (sender_first) both.close_sender();
    both.close_receiver();
  }
}

/// What was said to be sent arrives, though its sender has closed at once.
TEST(Lifecycle, SmallMessagesOutliveTheirSender) {
  Connected both;
  const auto bytes = pattern(5000, 1);
  for (int i = 0; i < 20; ++i) both.wait(both.send(bytes.data(), bytes.size()));
  both.close_sender();
  for (int i = 0; i < 20; ++i) {
    std::vector<std::byte> received(5000);
    EXPECT_EQ(both.wait(both.receive(received.data(), received.size())), 5000);
    EXPECT_EQ(received, bytes);
  }
}

TEST(Lifecycle, AReceiveFromAPeerThatLeftIsAnError) {
  Connected both;
  both.close_sender();
  std::byte word[8];
  void* request = both.receive(word, sizeof word);
  EXPECT_TRUE(soon([&] {
    int done = 0;
    return both.plugin().test(request, &done, nullptr) != Result::success;
  }));
}

TEST(Lifecycle, WrongHandlesAreRefused) {
  SKIP_UNLESS_OURS();
  const auto plugin = load_plugin(plugin_under_test());
  ASSERT_EQ(plugin->init(), Result::success);
  HandleOfTest handle{};
  void* comm = &handle;
  EXPECT_EQ(plugin->connect(handle.data(), &comm), Result::invalid_argument);
  EXPECT_EQ(comm, nullptr);
  handle.fill(std::byte{0xff});
  EXPECT_EQ(plugin->connect(handle.data(), &comm), Result::invalid_argument);
  EXPECT_EQ(plugin->finalize(), Result::success);
}

/// The handle of another job: the place is right, the token is not.
TEST(Lifecycle, APeerThatDoesNotKnowTheHandleIsAStranger) {
  SKIP_UNLESS_OURS();
  const Variable variable("TRIGRAM_NET_TIMEOUT", "0.5");
  take_warnings();
  const auto plugin = load_plugin(plugin_under_test());
  ASSERT_EQ(plugin->init(), Result::success);
  HandleOfTest handle{};
  void* listener = nullptr;
  ASSERT_EQ(plugin->listen(handle.data(), &listener), Result::success);
  auto forged = *net::read_handle(handle);
  for (const bool answers : {true, false}) {
    auto wrong = forged;
    (answers ? wrong.answers : wrong.asks)[3] ^= 1;
    HandleOfTest bytes{};
    net::write_handle(wrong, bytes);
    void* sender = nullptr;
    EXPECT_TRUE(soon([&] {
      void* receiver = nullptr;
      EXPECT_EQ(plugin->accept(listener, &receiver), Result::success);
      if (receiver) {
        EXPECT_EQ(plugin->close_receive(receiver), Result::success);
      }
      return plugin->connect(bytes.data(), &sender) == Result::remote_error;
    }));
    EXPECT_EQ(sender, nullptr);
  }
  EXPECT_TRUE(any_has(take_warnings(), "does not know the handle"));
  EXPECT_EQ(plugin->close_listen(listener), Result::success);
  EXPECT_EQ(plugin->finalize(), Result::success);
}

TEST(Lifecycle, NobodyAtTheHandleIsATimeout) {
  SKIP_UNLESS_OURS();
  const Variable variable("TRIGRAM_NET_TIMEOUT", "0.3");
  take_warnings();
  const auto plugin = load_plugin(plugin_under_test());
  ASSERT_EQ(plugin->init(), Result::success);
  HandleOfTest handle{};
  void* listener = nullptr;
  ASSERT_EQ(plugin->listen(handle.data(), &listener), Result::success);
  ASSERT_EQ(plugin->close_listen(listener), Result::success);
  void* sender = nullptr;
  EXPECT_TRUE(soon([&] { return plugin->connect(handle.data(), &sender) == Result::remote_error; }));
  EXPECT_TRUE(any_has(take_warnings(), "no way to the peer has opened"));
  EXPECT_EQ(plugin->finalize(), Result::success);
}

/// Ports are scanned, and other programs connect: none of that disturbs peers.
TEST(Lifecycle, StrangersAreDroppedWithOneWarning) {
  SKIP_UNLESS_OURS();
  take_warnings();
  const auto plugin = load_plugin(plugin_under_test());
  ASSERT_EQ(plugin->init(), Result::success);
  HandleOfTest handle{};
  void* listener = nullptr;
  ASSERT_EQ(plugin->listen(handle.data(), &listener), Result::success);
  auto address = net::read_handle(handle)->addresses.front();
  void* receiver = nullptr;
  for (int i = 0; i < 20; ++i) {
    const int stranger = socket(address.family(), SOCK_STREAM, 0);
    ASSERT_EQ(connect(stranger, address.raw(), address.length()), 0);
    const auto noise = pattern(100, static_cast<unsigned>(i));
    ASSERT_EQ(send(stranger, noise.data(), noise.size(), MSG_NOSIGNAL), 100);
    std::byte answer;
    EXPECT_TRUE(soon([&] {
      plugin->accept(listener, &receiver);
      return recv(stranger, &answer, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
    }));
    close(stranger);
  }
  EXPECT_EQ(receiver, nullptr);
  const auto warnings = take_warnings();
  EXPECT_EQ(std::count_if(warnings.begin(), warnings.end(),
                          [](const auto& one) { return one.find("stranger") != std::string::npos; }),
            1);
  EXPECT_EQ(plugin->close_listen(listener), Result::success);
  EXPECT_EQ(plugin->finalize(), Result::success);
}

TEST(Lifecycle, TheLastFinalizeLogsWhatPathsCarried) {
  SKIP_UNLESS_OURS();
  take_information();
  {
    Connected both;
    const auto bytes = pattern(100000, 1);
    std::vector<std::byte> received(bytes.size());
    both.wait_both(both.send(bytes.data(), bytes.size()), both.receive(received.data(), received.size()));
  }
  const auto said = take_information();
  EXPECT_TRUE(any_has(said, "uses ")) << testing::PrintToString(said);
  EXPECT_TRUE(any_has(said, "127.0.0.1 - 127.0.0.1")) << testing::PrintToString(said);
}

}  // namespace
}  // namespace trigram::tests
