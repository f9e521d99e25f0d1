// Which ranks are on one machine, which share a GPU, and what NCCL is told then.
#include "backends/gpu/host/hosts.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "core/values/error.hpp"

namespace trigram::gpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

RankLocation location(const std::string& host, const std::string& boot, const std::string& device) {
  return {host, boot, device, "NVIDIA H200"};
}

TEST(Hosts, AreNumberedInTheOrderOfTheirFirstRanks) {
  EXPECT_THAT(
      number_hosts({location("b", "1", ""), location("a", "1", ""), location("b", "1", ""), location("c", "1", "")}),
      ElementsAre(0, 1, 0, 2));
}

TEST(Hosts, MachinesOfOneNameDifferByTheirBoot) {
  EXPECT_THAT(number_hosts({location("localhost", "1", ""), location("localhost", "2", "")}), ElementsAre(0, 1));
}

TEST(Hosts, ThisOneHasANameAndSurvivesTheWay) {
  const RankLocation here = RankLocation::here();
  EXPECT_FALSE(here.host.empty());
  const RankLocation arrived = RankLocation::from(RankLocation{"h", "b", "GPU-1", "name \"x\""}.packed());
  EXPECT_EQ(arrived.host + arrived.boot + arrived.device + arrived.device_name, "hbGPU-1name \"x\"");
  EXPECT_THROW(RankLocation::from(bytes_of("{}")), Error);
}

TEST(Devices, AreTakenInTurnAndAgainWhereRanksAreMore) {
  const std::vector<int> nodes{0, 0, 1, 0, 1};
  EXPECT_EQ(place_on_host(nodes, 3), 2);
  EXPECT_EQ(place_on_host(nodes, 4), 1);
  EXPECT_EQ(device_for(2, 8), 2);
  EXPECT_EQ(device_for(2, 2), 0);
  EXPECT_EQ(device_for(5, 1), 0);
}

TEST(Devices, RanksThatShareOneAreNamed) {
  const std::vector<RankLocation> locations{location("a", "1", "GPU-0"), location("a", "1", "GPU-1"),
                                            location("a", "1", "GPU-0"), location("b", "1", "GPU-0")};
  EXPECT_THAT(shared_devices(locations), ElementsAre("ranks 0, 2 share GPU-0 (NVIDIA H200) of a"));
  EXPECT_THAT(shared_devices({locations[0], locations[1]}), IsEmpty());
}

TEST(Devices, OfMembersThatComeAndGoAreTheirOwn) {
  const std::vector<RankLocation> apart{location("a", "1", "GPU-0"), location("a", "1", "GPU-1")};
  EXPECT_NO_THROW(require_devices_of_their_own(apart, 1));
  const std::vector<RankLocation> shared{apart[0], apart[1], apart[0]};
  const char* const why = "ranks 0, 2 share GPU-0 (NVIDIA H200) of a, and members that come and go need a GPU each";
  for (const int goes_on : {0, 1}) {
    EXPECT_THAT([&] { require_devices_of_their_own(shared, goes_on); }, ThrowsMessage<BackendError>(why));
  }
  EXPECT_THAT([&] { require_devices_of_their_own(shared, 2); },
              ThrowsMessage<UsageError>(HasSubstr(why + std::string("; start this one with another"))));
}

TEST(Devices, AreCountedForPeople) {
  const auto location = [](const char* device, const char* name) {
    return RankLocation{"node0", "boot", device, name};
  };
  EXPECT_EQ(devices_text({location("GPU-1", "NVIDIA H200"), location("GPU-2", "NVIDIA H200")}), "2 x NVIDIA H200");
  EXPECT_EQ(devices_text({location("GPU-1", "NVIDIA H200"), location("GPU-1", "NVIDIA H200")}),
            "NVIDIA H200 for 2 ranks");
  EXPECT_EQ(devices_text({location("GPU-1", "NVIDIA L4"), location("GPU-2", "NVIDIA H100")}), "NVIDIA H100, NVIDIA L4");
}

TEST(Driver, IsReadFromWhatTheKernelSays) {
  EXPECT_EQ(driver_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n"
                      "GCC version:  gcc version 12.2.0\n"),
            "580.65.06");
  EXPECT_EQ(driver_in(""), "");
}

TEST(NcclEnvironment, IsAlmostEmptyWithAGpuARank) {
  const Environment wanted = nccl_environment({location("a", "1", "GPU-0"), location("a", "1", "GPU-1")}, 1);
  EXPECT_EQ(wanted, (Environment{{"NCCL_LAUNCH_ORDER_IMPLICIT", "1"}}));
}

TEST(NcclEnvironment, MakesEveryRankAHostWhereAGpuIsShared) {
  const std::vector<RankLocation> locations{location("a", "1", "GPU-0"), location("a", "1", "GPU-0")};
  const Environment zero = nccl_environment(locations, 0);
  const Environment one = nccl_environment(locations, 1);
  EXPECT_NE(zero.at("NCCL_HOSTID"), one.at("NCCL_HOSTID"));
  EXPECT_EQ(one.at("NCCL_SOCKET_IFNAME"), "lo");
  EXPECT_EQ(one.at("NCCL_PROTO"), "Simple");
  const std::vector<RankLocation> two_machines{locations[0], locations[1], location("b", "2", "GPU-9")};
  EXPECT_FALSE(nccl_environment(two_machines, 0).contains("NCCL_SOCKET_IFNAME"));
}

TEST(NcclEnvironment, ASettingWithWhichLanesWouldHangIsRefusedByName) {
  const char* name = "NCCL_LAUNCH_ORDER_IMPLICIT";
  for (const char* off : {"0", "00", "0x0", "true"}) {
    setenv(name, off, 1);
    EXPECT_THAT(refuse_settings_that_deadlock,
                ThrowsMessage<UsageError>(AllOf(HasSubstr(name + std::string("=") + off), HasSubstr("set it to 1"))));
  }
  setenv(name, "1", 1);
  EXPECT_NO_THROW(refuse_settings_that_deadlock());
  unsetenv(name);
  EXPECT_NO_THROW(refuse_settings_that_deadlock());
}

TEST(Environments, WhatTheUserSetStays) {
  setenv("TRIGRAM_TEST_SET", "theirs", 1);
  unsetenv("TRIGRAM_TEST_UNSET");
  const Environment done = set_missing({{"TRIGRAM_TEST_SET", "ours"}, {"TRIGRAM_TEST_UNSET", "ours"}});
  EXPECT_EQ(done, (Environment{{"TRIGRAM_TEST_UNSET", "ours"}}));
  EXPECT_STREQ(std::getenv("TRIGRAM_TEST_SET"), "theirs");
  EXPECT_STREQ(std::getenv("TRIGRAM_TEST_UNSET"), "ours");
}

}  // namespace
}  // namespace trigram::gpu
