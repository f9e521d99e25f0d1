// Which interfaces are used, by NCCL's own variables and ours.

#include "net/connection/interfaces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "net/error.hpp"
#include "tests/net/plugin_under_test.hpp"

namespace trigram::tests {
namespace {

using testing::ElementsAre;

/// The examples of NCCL's documentation.
TEST(Interfaces, AreNamedAsByNccl) {
  using net::names_interface;
  EXPECT_TRUE(names_interface("eth", "eth0"));
  EXPECT_TRUE(names_interface("ib,eth", "eth1"));
  EXPECT_FALSE(names_interface("eth", "veth0"));
  EXPECT_TRUE(names_interface("=eth0", "eth0"));
  EXPECT_FALSE(names_interface("=eth0", "eth01"));
  EXPECT_TRUE(names_interface("=eth0,eth1", "eth1"));
  EXPECT_FALSE(names_interface("^docker", "docker0"));
  EXPECT_TRUE(names_interface("^docker", "eth0"));
  EXPECT_FALSE(names_interface("^=eth0", "eth0"));
  EXPECT_TRUE(names_interface("^=eth0", "eth01"));
}

TEST(Interfaces, AreThoseOfNcclsVariableUnlessOursIsSet) {
  const Variable of_nccl("NCCL_SOCKET_IFNAME", "=lo");
  const Variable unset("TRIGRAM_NET_INTERFACES", "");
  EXPECT_EQ(net::settings_of_environment().interfaces, "=lo");
  const Variable ours("TRIGRAM_NET_INTERFACES", "^lo");
  EXPECT_EQ(net::settings_of_environment().interfaces, "^lo");
}

/// Loopback has one address of each family.
TEST(Interfaces, HaveAnAddressOfTheFamilyThatNcclAsksFor) {
  const auto addresses = [] {
    std::vector<std::string> texts;
    for (const auto& one : net::usable_interfaces(net::settings_of_environment())) texts.push_back(one.address.text());
    return texts;
  };
  const Variable loopback("TRIGRAM_NET_INTERFACES", "=lo");
  const Variable either("NCCL_SOCKET_FAMILY", "");
  EXPECT_THAT(addresses(), ElementsAre("127.0.0.1"));
  const Variable four("NCCL_SOCKET_FAMILY", "AF_INET");
  EXPECT_THAT(addresses(), ElementsAre("127.0.0.1"));
  const Variable six("NCCL_SOCKET_FAMILY", "AF_INET6");
  try {
    EXPECT_THAT(addresses(), ElementsAre("::1"));
  } catch (const net::Error&) {
    GTEST_SKIP() << "loopback has no address of IPv6 here";
  }
}

/// Whole messages over the address that NCCL's variables leave.
TEST(Interfaces, OfNcclsVariablesCarryMessages) {
  const Variable of_nccl("NCCL_SOCKET_IFNAME", "=lo");
  const Variable unset("TRIGRAM_NET_INTERFACES", "");
  for (const char* family : {"AF_INET", "AF_INET6"}) {
    const Variable variable("NCCL_SOCKET_FAMILY", family);
    const auto plugin = load_plugin(plugin_under_test());
    if (plugin->init() != Result::success) continue;
    const auto sent = pattern(300000, 3);
    std::vector<std::byte> received(sent.size());
    {
      Connected both(*plugin);
      void* receive = both.receive(received.data(), received.size());
      EXPECT_EQ(both.wait_both(both.send(sent.data(), sent.size()), receive), 300000);
    }
    EXPECT_EQ(received, sent);
    EXPECT_EQ(plugin->finalize(), Result::success);
  }
}

}  // namespace
}  // namespace trigram::tests
