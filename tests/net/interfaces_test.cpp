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

/// As src/misc/utils.cc of NCCL reads an entry, name:port:rail:plane, of which sockets have the name alone.
TEST(Interfaces, AreNamedWithAPortAsByNccl) {
  using net::names_interface;
  EXPECT_TRUE(names_interface("eth:1", "eth0"));
  EXPECT_TRUE(names_interface("ib0:1,eth1:2", "eth1"));
  EXPECT_TRUE(names_interface("=eth0:1", "eth0"));
  EXPECT_FALSE(names_interface("=eth0:1", "eth01"));
  EXPECT_TRUE(names_interface("=eth0:1:2:3,eth1:", "eth0"));
  EXPECT_TRUE(names_interface("=eth0:1:2:3,eth1:", "eth1"));
  EXPECT_FALSE(names_interface("^docker:0", "docker0"));
  EXPECT_FALSE(names_interface("^=eth0:9,eth1", "eth0"));
  EXPECT_TRUE(names_interface("^=eth0:9,eth1", "eth2"));
}

/// The same file: entries without a name do not count, and a list of none has all.
TEST(Interfaces, OfListsWithEmptyEntriesAreThoseOfNccl) {
  using net::names_interface;
  EXPECT_FALSE(names_interface(",eth0,,", "lo"));
  EXPECT_FALSE(names_interface(":1,eth0", "lo"));
  EXPECT_TRUE(names_interface("=,", "eth0"));
  EXPECT_FALSE(names_interface("^,", "eth0"));
  EXPECT_FALSE(names_interface("=eth0,=eth1", "eth1"));
}

/// As ncclFindInterfaces of NCCL, but for its preference for names with "ib".
TEST(Interfaces, HaveNcclsTurnsWhereNothingIsAskedFor) {
  EXPECT_EQ(net::turn_of("eth0", false), 0);
  EXPECT_EQ(net::turn_of("ib0", false), 0);
  EXPECT_EQ(net::turn_of("docker0", false), 1);
  EXPECT_EQ(net::turn_of("lo", true), 2);
  EXPECT_EQ(net::turn_of("virbr0", false), net::last_turn);
}

TEST(Interfaces, AreNotAskedForByOneCharacter) {
  const Variable unset("TRIGRAM_NET_INTERFACES", "^");
  const Variable of_nccl("NCCL_SOCKET_IFNAME", "e");
  EXPECT_EQ(net::settings_of_environment().interfaces, "");
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
