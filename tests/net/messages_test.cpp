// Messages on one connection: order, sizes, how many are under way, groups.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/net/plugin_under_test.hpp"

namespace trigram::tests {
namespace {

class MessagesOfSize : public testing::TestWithParam<std::size_t> {};

TEST_P(MessagesOfSize, ArriveWhole) {
  Connected both;
  const auto sent = pattern(GetParam(), 1);
  std::vector<std::byte> received(GetParam() + 100);
  void* receive = both.receive(received.data(), received.size());
  void* send = both.send(sent.data(), sent.size());
  EXPECT_EQ(both.wait_both(send, receive), static_cast<int>(sent.size()));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));
  EXPECT_TRUE(std::all_of(received.end() - 100, received.end(), [](std::byte byte) { return byte == std::byte{0}; }));
}

INSTANTIATE_TEST_SUITE_P(Sizes, MessagesOfSize,
                         testing::Values(0, 1, 127, 128, 129, 8191, 8192, 8193, 65535, 65536, 65537, 131072, 131073,
                                         (1 << 20) - 1, (1 << 20) + 1, 16 << 20));

/// A gigabyte, where the machine has room for two of them.
TEST(LargeMessages, AGigabyteArrivesWhole) {
  if (!std::getenv("TRIGRAM_NET_LARGE")) GTEST_SKIP() << "TRIGRAM_NET_LARGE is not set; it takes 2 GiB";
  Connected both;
  const auto sent = pattern(1 << 30, 2);
  std::vector<std::byte> received(sent.size());
  void* receive = both.receive(received.data(), received.size());
  void* send = both.send(sent.data(), sent.size());
  EXPECT_EQ(both.wait_both(send, receive), 1 << 30);
  EXPECT_TRUE(sent == received);
}

/// Each byte says which message it is of; sizes go up and down across what is sent at once and what in chunks.
TEST(Messages, KeepTheirOrder) {
  Connected both;
  constexpr std::size_t count = 32;
  std::vector<std::vector<std::byte>> received(count, std::vector<std::byte>(400000));
  std::vector<std::vector<std::byte>> sent;
  std::vector<void*> sends;
  std::vector<void*> receives;
  for (std::size_t i = 0; i < count; ++i) {
    sent.push_back(pattern(i % 3 == 0 ? 10 * i : 12007 * i, static_cast<unsigned>(i)));
    receives.push_back(both.receive(received[i].data(), received[i].size()));
  }
  for (const auto& message : sent) sends.push_back(both.send(message.data(), message.size()));
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(both.wait_both(sends[i], receives[i]), static_cast<int>(sent[i].size()));
    EXPECT_TRUE(std::equal(sent[i].begin(), sent[i].end(), received[i].begin())) << i;
  }
}

TEST(Messages, SmallOnesComeBeforeTheirReceives) {
  Connected both;
  std::vector<void*> sends;
  const auto first = pattern(100, 1);
  const auto second = pattern(8000, 2);
  EXPECT_EQ(both.wait(both.send(first.data(), first.size())), 100);
  EXPECT_EQ(both.wait(both.send(second.data(), second.size())), 8000);
  EXPECT_EQ(both.wait(both.send(nullptr, 0)), 0);
  std::vector<std::byte> received(8000);
  EXPECT_EQ(both.wait(both.receive(received.data(), received.size())), 100);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), received.begin()));
  EXPECT_EQ(both.wait(both.receive(received.data(), received.size())), 8000);
  EXPECT_EQ(received, second);
  EXPECT_EQ(both.wait(both.receive(received.data(), received.size())), 0);
}

TEST(Messages, ThirtyTwoAreUnderWayAndNoMore) {
  SKIP_UNLESS_OURS();
  Connected both;
  std::vector<std::byte> memory(100000);
  std::vector<void*> requests;
  for (int i = 0; i < 32; ++i) requests.push_back(both.send(memory.data(), memory.size()));
  void* one_more = &memory;
  EXPECT_EQ(both.plugin().isend(both.sender(), memory.data(), memory.size(), 0, &one_more), Result::success);
  EXPECT_EQ(one_more, nullptr);
  for (auto* request : requests) EXPECT_FALSE(both.over(request));
  for (auto* request : requests) {
    std::vector<std::byte> received(memory.size());
    EXPECT_EQ(both.wait_both(request, both.receive(received.data(), received.size())), static_cast<int>(memory.size()));
  }
}

/// Small ones are told to be sent at once, until too many wait for receives.
TEST(Messages, SmallOnesWithoutReceivesAreBounded) {
  SKIP_UNLESS_OURS();
  Connected both;
  std::byte word[8]{};
  int taken = 0;
  void* request = &word;
  for (; request && taken < 10000; ++taken) {
    ASSERT_EQ(both.plugin().isend(both.sender(), word, sizeof word, 0, &request), Result::success);
    if (request) {
      EXPECT_TRUE(both.over(request));
    }
  }
  EXPECT_LE(taken, 1000);
  for (int i = 0; i + 1 < taken; ++i) EXPECT_EQ(both.wait(both.receive(word, sizeof word)), 8);
}

TEST(Messages, GroupsMatchByTag) {
  Connected both;
  if (both.plugin().said().max_receives < 3) GTEST_SKIP() << "the plugin receives no groups";
  const auto large = pattern(300000, 1);
  const auto small = pattern(10, 2);
  const auto middle = pattern(70000, 3);
  std::vector<std::byte> a(300000), b(300000), c(300000);
  void* group = both.receive_group({a.data(), b.data(), c.data()}, {a.size(), b.size(), c.size()}, {7, 8, 9});
  void* third = both.send(middle.data(), middle.size(), 9);
  void* second = both.send(small.data(), small.size(), 8);
  void* first = both.send(large.data(), large.size(), 7);
  EXPECT_EQ(both.wait_group(group, 3), (std::vector<int>{300000, 10, 70000}));
  EXPECT_TRUE(std::equal(large.begin(), large.end(), a.begin()));
  EXPECT_TRUE(std::equal(small.begin(), small.end(), b.begin()));
  EXPECT_TRUE(std::equal(middle.begin(), middle.end(), c.begin()));
  for (auto* request : {first, second, third}) both.wait(request);
}

/// A second message of one tag waits while the first of another tag goes before it, though it was sent later.
TEST(Messages, OfOneTagHoldUpNoOther) {
  Connected both;
  if (both.plugin().said().max_receives < 2) GTEST_SKIP() << "the plugin receives no groups";
  const auto bytes = pattern(200000, 4);
  std::vector<std::byte> a(bytes.size()), b(bytes.size());
  void* group = both.receive_group({a.data(), b.data()}, {a.size(), b.size()}, {1, 2});
  std::vector<void*> sends;
  for (const int tag : {1, 1, 2, 2}) sends.push_back(both.send(bytes.data(), bytes.size(), tag));
  EXPECT_EQ(both.wait_group(group, 2), (std::vector<int>{200000, 200000}));
  group = both.receive_group({a.data(), b.data()}, {a.size(), b.size()}, {2, 1});
  EXPECT_EQ(both.wait_group(group, 2), (std::vector<int>{200000, 200000}));
  for (auto* request : sends) both.wait(request);
}

TEST(Messages, TooLargeForTheirReceiveAreAnError) {
  Connected both;
  const auto bytes = pattern(50000, 5);
  std::vector<std::byte> received(100);
  void* receive = both.receive(received.data(), 10);
  void* send = both.send(bytes.data(), bytes.size());
  EXPECT_TRUE(soon([&] {
    int done = 0;
    both.plugin().test(send, &done, nullptr);
    const Result result = both.plugin().test(receive, &done, nullptr);
    EXPECT_FALSE(done);
    return result != Result::success;
  }));
  EXPECT_TRUE(std::all_of(received.begin(), received.end(), [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(Messages, OfTheHostNeedNoFlush) {
  SKIP_UNLESS_OURS();
  Connected both;
  std::byte word[8]{};
  void* request = &word;
  EXPECT_EQ(both.plugin().iflush(both.receiver(), word, sizeof word, &request), Result::success);
  EXPECT_EQ(request, nullptr);
  EXPECT_EQ(both.plugin().register_memory(both.sender(), word, sizeof word, 1), Result::success);
  EXPECT_NE(both.plugin().register_memory(both.sender(), word, sizeof word, 2), Result::success);
}

}  // namespace
}  // namespace trigram::tests
