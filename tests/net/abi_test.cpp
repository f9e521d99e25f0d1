// Sizes and places in NCCL's tables, against those that were measured on NCCL's own headers for x86-64.

#include <gtest/gtest.h>

#include <cstddef>

#include "net/vtables.hpp"
#include "tests/net/plugin_under_test.hpp"

namespace trigram::tests {
namespace {

using namespace net::abi;

// Places in a nested table; not every compiler lets offsetof look through it in one step.
#define PLACE(Net, member) (offsetof(Net, transfers) + offsetof(decltype(Net::transfers), member))

/// What offsetof says, which may not be asked of types with bases.
template <typename Properties, typename Member>
std::size_t place(const Properties& properties, const Member& member) {
  return static_cast<std::size_t>(reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&properties));
}

TEST(Abi, Version11IsAsMeasured) {
  EXPECT_EQ(sizeof(NetV11), 176U);
  EXPECT_EQ(sizeof(PropertiesV11), 112U);
  EXPECT_EQ(sizeof(VirtualDevice<4>), 20U);
  EXPECT_EQ(sizeof(NetAttributes), 44U);
  EXPECT_EQ(offsetof(NetV11, init), 8U);
  EXPECT_EQ(PLACE(NetV11, isend), 80U);
  EXPECT_EQ(PLACE(NetV11, irecv), 88U);
  EXPECT_EQ(offsetof(NetV11, make_virtual_device), 152U);
  EXPECT_EQ(offsetof(NetV11, finalize), 160U);
  EXPECT_EQ(offsetof(NetV11, set_attributes), 168U);
  const PropertiesV11 v11{};
  EXPECT_EQ(place(v11, v11.speed), 36U);
  EXPECT_EQ(place(v11, v11.latency), 44U);
  EXPECT_EQ(place(v11, v11.max_receives), 52U);
  EXPECT_EQ(place(v11, v11.virtual_device), 64U);
  EXPECT_EQ(place(v11, v11.max_p2p_bytes), 88U);
  EXPECT_EQ(place(v11, v11.max_multi_request), 104U);
}

TEST(Abi, OtherVersionsAreAsMeasured) {
  EXPECT_EQ(sizeof(NetV8), 152U);
  EXPECT_EQ(sizeof(PropertiesV8), 64U);
  EXPECT_EQ(sizeof(NetV9), 160U);
  EXPECT_EQ(sizeof(PropertiesV9), 104U);
  EXPECT_EQ(sizeof(NetV10), 160U);
  EXPECT_EQ(sizeof(PropertiesV10), 104U);
  EXPECT_EQ(sizeof(NetV12), 176U);
  EXPECT_EQ(sizeof(VirtualDevice<8>), 36U);
  EXPECT_EQ(sizeof(PropertiesV12), 128U);
  EXPECT_EQ(PLACE(NetV8, test), 104U);
  EXPECT_EQ(PLACE(NetV8, receive_consumed), 144U);
  const PropertiesV8 v8{};
  EXPECT_EQ(place(v8, v8.speed), 32U);
  EXPECT_EQ(place(v8, v8.max_receives), 48U);
  const PropertiesV12 v12{};
  EXPECT_EQ(place(v12, v12.max_p2p_bytes), 104U);
  EXPECT_EQ(place(v12, v12.max_multi_request), 120U);
  EXPECT_EQ(place(v12, v12.rail), 124U);
  EXPECT_EQ(place(v12, v12.plane), 126U);
}

TEST(Abi, EveryVersionIsExported) {
  SKIP_UNLESS_OURS();
  const std::string file = plugin_under_test().substr(0, plugin_under_test().find(":"));
  for (const int version : {8, 9, 10, 11, 12}) {
    const auto plugin = load_plugin(file + ":" + std::to_string(version));
    ASSERT_EQ(plugin->init(), Result::success);
    EXPECT_EQ(plugin->said().devices, 1);
    EXPECT_EQ(plugin->said().name, "trigram");
    EXPECT_EQ(plugin->said().pointer_support, 1);
    EXPECT_GT(plugin->said().speed, 0);
    EXPECT_GT(plugin->said().latency, 0);
    EXPECT_EQ(plugin->finalize(), Result::success);
  }
}

}  // namespace
}  // namespace trigram::tests
