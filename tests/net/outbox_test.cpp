// Into how many chunks messages are cut.

#include "net/stream/outbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/stream/path.hpp"

namespace trigram::tests {
namespace {

using testing::ElementsAre;

constexpr std::size_t kib = 1 << 10;
constexpr std::size_t mib = 1 << 20;

/// The lengths of all chunks of such a message, over paths of interfaces with such names.
std::vector<std::size_t> chunks_of_message(std::size_t size, const std::vector<std::string>& names,
                                           std::size_t streams) {
  std::vector<net::Path> paths;
  for (const auto& name : names) paths.push_back({{name, {}, 8, 0, ""}, {}});
  net::Outbox outbox(128 * kib, net::parts_over(paths, streams));
  const std::vector<std::byte> bytes(size);
  net::Request request;
  outbox.add(bytes.data(), size, 0, &request);
  outbox.credit(0, 1);
  std::vector<std::size_t> lengths;
  while (const auto drawn = outbox.draw({})) lengths.push_back(drawn->frame().length);
  return lengths;
}

TEST(Chunks, OfOnePathAreAPartForEachConnection) {
  EXPECT_THAT(chunks_of_message(mib, {"eth0"}, 1), ElementsAre(mib));
  EXPECT_THAT(chunks_of_message(mib, {"eth0"}, 2), ElementsAre(mib / 2, mib / 2));
  EXPECT_THAT(chunks_of_message(4 * mib, {"eth0"}, 2), ElementsAre(mib, mib, mib, mib));
}

/// Halves gave 22.9 Gbit/s where whole messages on one connection after the other gave 29.7.
TEST(Chunks, OfLoopbackAreWholeMessages) {
  EXPECT_THAT(chunks_of_message(mib, {"lo"}, 2), ElementsAre(mib));
  EXPECT_THAT(chunks_of_message(300 * kib, {"lo"}, 2), ElementsAre(300 * kib));
  EXPECT_THAT(chunks_of_message(2 * mib, {"lo"}, 2), ElementsAre(mib, mib));
}

/// A stream that takes none of a message takes the next one's.
TEST(Chunks, AreAskedForInOrder) {
  net::Outbox outbox(128 * kib, 0);
  const std::vector<std::byte> bytes(300 * kib);
  net::Request request;
  for (int message = 0; message < 2; ++message) outbox.add(bytes.data(), bytes.size(), 0, &request);
  outbox.credit(0, 2);
  const auto beyond = [&](std::size_t least) {
    return outbox.draw({}, [&](std::uint64_t, std::uint64_t queued) { return queued > least; });
  };
  EXPECT_EQ(beyond(600 * kib), std::nullopt);
  EXPECT_EQ(beyond(500 * kib)->message->index, 1U);
  EXPECT_EQ(beyond(0)->message->index, 0U);
  std::vector<std::size_t> lengths;
  while (outbox.draw({}, [&](std::uint64_t length, std::uint64_t) { return lengths.push_back(length), true; })) {
  }
  EXPECT_THAT(lengths, ElementsAre(128 * kib, 44 * kib, 128 * kib, 44 * kib));
}

TEST(Chunks, OfSlowPathsAreSmallWhereAMessageIsShort) {
  net::Outbox outbox(128 * kib, 0);
  outbox.carried_at(12.5e6);
  const std::vector<std::byte> bytes(2 * mib);
  net::Request request;
  outbox.add(bytes.data(), 256 * kib, 0, &request);
  outbox.add(bytes.data(), 2 * mib, 1, &request);
  outbox.credit(0, 1);
  EXPECT_EQ(outbox.draw({})->frame().length, 8 * kib);
  outbox.credit(1, 1);
  EXPECT_EQ(outbox.draw({}, [](std::uint64_t length, std::uint64_t) { return length > 8 * kib; })->frame().length,
            64 * kib);
}

TEST(Chunks, OfSeveralPathsAreTheLeast) {
  EXPECT_THAT(chunks_of_message(300 * kib, {"eth0", "eth1"}, 2), ElementsAre(128 * kib, 128 * kib, 44 * kib));
}

}  // namespace
}  // namespace trigram::tests
