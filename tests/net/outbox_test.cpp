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

TEST(Chunks, OfSeveralPathsAreTheLeast) {
  EXPECT_THAT(chunks_of_message(300 * kib, {"eth0", "eth1"}, 2), ElementsAre(128 * kib, 128 * kib, 44 * kib));
}

}  // namespace
}  // namespace trigram::tests
