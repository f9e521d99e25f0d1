// One exchange receives into memory that nothing else in it uses.
#include "core/lane/disjoint.hpp"

#include <gmock/gmock.h>

#include <array>

#include "core/values/error.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Disjoint : public ::testing::Test {
 protected:
  Buffer part(std::int64_t begin, std::int64_t count) {
    return Buffer(memory_.data(), Shape::of(16, DType::f32)).slice(begin, count);
  }
  static auto checking(const std::vector<Transfer>& transfers) {
    return [transfers] { require_disjoint(transfers); };
  }

  std::array<float, 16> memory_{};
};

TEST_F(Disjoint, NeighboursAndSendsOfTheSameBytesMayBe) {
  EXPECT_NO_THROW(require_disjoint(std::vector{Transfer::send_to(1, part(4, 8)), Transfer::send_to(2, part(0, 16))}));
  EXPECT_NO_THROW(
      require_disjoint(std::vector{Transfer::send_to(1, part(4, 4)), Transfer::receive_from(1, part(0, 4)),
                                   Transfer::receive_from(2, part(8, 8)), Transfer::receive_from(3, part(4, 0))}));
}

TEST_F(Disjoint, WhatIsReceivedBelongsToNoOtherTransfer) {
  EXPECT_THAT(checking({Transfer::send_to(1, part(0, 4)), Transfer::receive_from(2, part(0, 4))}),
              ThrowsMessage<Error>(HasSubstr("16 bytes sent to rank 1 and 16 bytes received from rank 2 share memory; "
                                             "receive into a buffer of its own")));
  EXPECT_THAT(checking({Transfer::receive_from(1, part(0, 5)), Transfer::receive_from(2, part(4, 4))}),
              ThrowsMessage<Error>(HasSubstr("20 bytes received from rank 1 and 16 bytes received from rank 2")));
  // A long one, behind it a short one that is sent, and one that begins after the short one.
  EXPECT_THAT(checking({Transfer::receive_from(1, part(0, 12)), Transfer::send_to(2, part(10, 1))}),
              ThrowsMessage<Error>(HasSubstr("4 bytes sent to rank 2")));
  EXPECT_THAT(checking({Transfer::send_to(1, part(0, 12)), Transfer::send_to(2, part(2, 1)),
                        Transfer::receive_from(3, part(8, 8))}),
              ThrowsMessage<Error>(HasSubstr("48 bytes sent to rank 1 and 32 bytes received from rank 3")));
}

TEST_F(Disjoint, PhantomsAreLeftOut) {
  const Buffer phantom(nullptr, {8, DType::f32, 8, true});
  EXPECT_NO_THROW(require_disjoint(std::vector{Transfer::send_to(1, phantom), Transfer::receive_from(2, phantom)}));
}

TEST(DisjointExchange, IsAskedForOnEveryLane) {
  EXPECT_THAT(
      [] {
        run_ranks<float>("threads", 2, [](RankRuntime& runtime) {
          Lane& lane = runtime.lane(0);
          const OwnedBuffer x = lane.device->allocate(Shape::of(4, DType::f32));
          const int other = 1 - lane.comm->rank();
          lane.comm->exchange({Transfer::send_to(other, x), Transfer::receive_from(other, x)});
          return std::vector<float>();
        });
      },
      ThrowsMessage<Error>(HasSubstr("share memory")));
}

}  // namespace
}  // namespace trigram::testing
