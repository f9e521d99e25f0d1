// Clusters from parameters and from platform files: what they refuse, what they warn of, and what they become.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/sim/rig.hpp"

namespace trigram::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string refusal(const std::string& spec) {
  try {
    Backends::make(spec);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Cluster, RefusesWhatItCannotBe) {
  EXPECT_THAT(refusal("sim:nodes=0"), HasSubstr("nodes"));
  EXPECT_THAT(refusal("sim:nodes=3,gpus_per_node=4 8"), HasSubstr("gpus_per_node"));
  EXPECT_EQ(refusal("sim:gpus_per_node=0"),
            "backend 'sim': 'gpus_per_node': '0' gives a node none or too many; each has from 1 to 1024 GPUs");
  EXPECT_THAT(refusal("sim:nic_bandwidth=0"), HasSubstr("nic_bandwidth"));
  EXPECT_THAT(refusal("sim:nic_bandwidth=10"), HasSubstr("10"));
  EXPECT_THAT(refusal("sim:nic_efficiency=1.5"), HasSubstr("nic_efficiency"));
  EXPECT_THAT(refusal("sim:nic=switch"), HasSubstr("switch"));
  EXPECT_THAT(refusal("sim:topology=ring"), HasSubstr("ring"));
  EXPECT_THAT(refusal("sim:fidelity=perfect"), HasSubstr("perfect"));
  EXPECT_THAT(refusal("sim:timeout=1e-13s"), HasSubstr("give 1e-12s or more, or 0s for none"));
  EXPECT_THAT(refusal("sim:ranks_per_node=9"), HasSubstr("'ranks_per_node' is 9, and there is a node of 4 GPUs"));
  EXPECT_THAT(refusal("sim:uplinks=2"), HasSubstr("uplinks"));
  EXPECT_THAT(refusal("sim:platform=nowhere.xml"), HasSubstr("nowhere.xml"));
  EXPECT_THAT(refusal("sim:platform=" + std::string(100'000, 'x')), HasSubstr("(100000 bytes) does not exist"));
}

TEST(Cluster, RefusesMalformedEvents) {
  EXPECT_THAT(refusal("sim:slow=3"), HasSubstr("rank:factor"));
  EXPECT_THAT(refusal("sim:slow=3:fast"), HasSubstr("factor"));
  EXPECT_THAT(refusal("sim:slow=99:2"), HasSubstr("99"));
  EXPECT_THAT(refusal("sim:changes=1s/nic_colour/0/1Gbps"), HasSubstr("nic_colour"));
  EXPECT_THAT(refusal("sim:changes=1s/nic_bandwidth/7/1Gbps"), HasSubstr("node 7"));
  EXPECT_THAT(refusal("sim:changes=1s/nic_bandwidth/0/0Gbps"), HasSubstr("above 0"));
  EXPECT_THAT(refusal("sim:faults=1s/switch/0"), ::testing::StartsWith("backend 'sim': 'faults': '1s/switch/0': "));
  EXPECT_THAT(refusal("sim:background=0>0"), HasSubstr("two different"));
  EXPECT_THAT(refusal("sim:background=0-1"), HasSubstr("from>to"));
}

TEST(Cluster, RefusesKeysThatCannotMatter) {
  EXPECT_THAT(refusal("sim:oversubscription=2"), HasSubstr("star"));
  EXPECT_EQ(refusal("sim:leaf_nodes=2"), "backend 'sim': 'leaf_nodes' cannot influence a star; leave it out");
}

std::vector<std::string> warnings(const std::string& spec, int ranks) {
  return nlohmann::json::parse(simulate(spec, ranks, [](RankRuntime&) {}).facts).at("warnings");
}

TEST(Cluster, WarnsOfKeysThatDoNotMatterInThisRun) {
  EXPECT_TRUE(warnings("sim:nic_latency=5us,node_latency=1us", 8).empty());
  EXPECT_THAT(warnings("sim:nic_latency=5us,node_latency=1us", 4), ::testing::ElementsAre(HasSubstr("nic_latency")));
  EXPECT_THAT(warnings("sim:gpus_per_node=1,node_latency=1us", 2), ::testing::ElementsAre(HasSubstr("node_latency")));
  EXPECT_THAT(warnings("sim:slow=7:2", 4), ::testing::ElementsAre(HasSubstr("slow")));
  EXPECT_THAT(warnings("sim:topology=fat_tree,oversubscription=4", 8),
              ::testing::ElementsAre(HasSubstr("oversubscription")));
}

TEST(Cluster, PlacesRanksOnItsNodes) {
  EXPECT_EQ(Backends::make("sim:nodes=3,gpus_per_node=1 3 2")->nodes(5), (std::vector<int>{0, 1, 1, 1, 2}));
  EXPECT_EQ(Backends::make("sim:gpus_per_node=1 3 2")->default_ranks(), 6);
  EXPECT_EQ(Backends::make("sim:nodes=2,ranks_per_node=2")->nodes(4), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_THAT(
      [] { Backends::make("sim:nodes=2")->nodes(9); },
      ::testing::ThrowsMessage<UsageError>(HasSubstr("backend 'sim': 9 ranks do not fit: there is room for 8")));
  EXPECT_THROW(simulate("sim:nodes=2", 9, [](RankRuntime&) {}), UsageError);
}

TEST(Cluster, GivesEveryRankItsNodeAndItsPeersOnOtherNodes) {
  const auto results = run_ranks<std::int64_t>("sim:gpus_per_node=1 3 2", 6, [](RankRuntime& runtime) {
    const Lane& lane = runtime.lane(0);
    return std::vector<std::int64_t>{lane.node->size(), lane.node->rank(), lane.leaders->size(), lane.leaders->rank()};
  });
  const std::vector<std::vector<std::int64_t>> expected{{1, 0, 3, 0}, {3, 0, 3, 1}, {3, 1, 2, 0},
                                                        {3, 2, 1, 0}, {2, 0, 3, 2}, {2, 1, 2, 1}};
  EXPECT_EQ(results, expected);
}

TEST(Cluster, CountsTheBytesOfItsBusiestNic) {
  // A ring over two nodes of four: only the last rank of a node sends to the other node.
  const auto facts = nlohmann::json::parse(simulate("sim:nodes=2,gpus_per_node=4", 8, all_reduce_of(8'192'000)).facts);
  EXPECT_EQ(facts.at("busiest_nic").at("bytes"), 14'336'000);
}

/// A platform file that goes with its object.
class PlatformFile {
 public:
  explicit PlatformFile(const std::string& inside)
      : path_(::testing::TempDir() + "trigram_platform_" + std::to_string(::getpid()) + ".xml") {
    std::ofstream(path_) << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                         << "<platform version=\"4.1\">" << inside << "</platform>\n";
  }
  ~PlatformFile() { std::filesystem::remove(path_); }
  std::string spec(const std::string& more = "") const { return "sim:platform=" + path_ + more; }

 private:
  std::string path_;
};

const char* const star_of_eight =
    "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-7\" speed=\"1Gf\" bw=\"12.5GBps\" lat=\"2.5us\" "
    "sharing_policy=\"SPLITDUPLEX\"/>";

TEST(PlatformFiles, KeepTheirBandwidthAndLatency) {
  const PlatformFile file(star_of_eight);
  EXPECT_EQ(Backends::make(file.spec())->default_ranks(), 8);
  EXPECT_EQ(Backends::make(file.spec(",ranks_per_node=4"))->nodes(8), (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  expect_relative(duration(file.spec(), 8, all_reduce_of(8'192'000)), 14 * (alpha + 1.024e6 * beta), 1e-6);
  EXPECT_TRUE(warnings(file.spec(), 8).empty());
}

TEST(PlatformFiles, MayLeaveRoutesToBeFound) {
  const PlatformFile file(
      "<zone id='z' routing='Floyd'><host id='a' speed='1Gf'/><host id='b' speed='1Gf'/><router id='r'/>"
      "<link id='l' bandwidth='12.5GBps' latency='2.5us'/><link id='m' bandwidth='12.5GBps' latency='2.5us'/>"
      "<route src='a' dst='r'><link_ctn id='l'/></route><route src='b' dst='r'><link_ctn id='m'/></route></zone>");
  EXPECT_GT(duration(file.spec(), 2, all_reduce_of(8'000'000)), 1e-4);
}

TEST(PlatformFiles, ComputeAtTheSpeedOfTheGpu) {
  const PlatformFile file(star_of_eight);
  const auto compute = [](RankRuntime& runtime) { runtime.lane(0).device->charge_seconds(2e-3); };
  expect_relative(duration(file.spec(), 8, compute), 2e-3, 1e-6);
}

/// Two hosts and a link between them.
std::string two_hosts(const std::string& speed, const std::string& bandwidth, const std::string& latency,
                      const std::string& rest = "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>") {
  return "<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"" + speed +
         "\"/><host id=\"b\" speed=\"1Gf\"/><link id=\"l\" bandwidth=\"" + bandwidth + "\" latency=\"" + latency +
         "\"/>" + rest + "</zone>";
}

TEST(PlatformFiles, AreRefusedByNameWhereSimGridWouldEndTheProcess) {
  EXPECT_EQ(refusal(PlatformFile(two_hosts("1Gf", "1GBps", "10us")).spec()), "");
  const auto refused = [](const std::string& inside) { return refusal(PlatformFile(inside).spec()); };
  for (const char* speed : {"0f", "-1Gf", "nan", "inf", "", "fast"}) {
    EXPECT_THAT(refused(two_hosts(speed, "1GBps", "10us")), ::testing::StartsWith("platform file '")) << speed;
  }
  for (const char* bandwidth : {"0Bps", "-1Bps", "nan", "inf", ""}) {
    EXPECT_THAT(refused(two_hosts("1Gf", bandwidth, "10us")), ::testing::StartsWith("platform file '")) << bandwidth;
  }
  for (const char* latency : {"-10us", "nan", "inf"}) {
    EXPECT_THAT(refused(two_hosts("1Gf", "1GBps", latency)), ::testing::StartsWith("platform file '")) << latency;
  }
  EXPECT_THAT(refused(two_hosts("1Gf", "1GBps", "-10us")), HasSubstr("link 'l' has a latency of -"));
  EXPECT_THAT(refused(two_hosts("1Gf", "1GBps", "10us", "")), HasSubstr("the route from 'a' to 'b'"));
  EXPECT_THAT(refused(two_hosts("1Gf", "1GBps", "10us", "<host id=\"a\" speed=\"1Gf\"/>")),
              HasSubstr("platform file '"));
  EXPECT_THAT(refused("<include file=\"other.xml\"/>"), HasSubstr("platform file '"));
  EXPECT_THAT(refused(""), HasSubstr("platform file '"));
}

TEST(PlatformFiles, OfMoreHostsThanCanBeReadAreRefusedBeforeTheyAreMade) {
  const auto refused = [](const std::string& radical) {
    std::string cluster = star_of_eight;
    return refusal(PlatformFile(cluster.replace(cluster.find("0-7"), 3, radical)).spec());
  };
  EXPECT_THAT(refused("99999999999999"),
              EndsWith("SimGrid cannot use its text: a number in it is too large, or is none"));
  EXPECT_THAT(refused("0-1000000"), HasSubstr(": the radicals of its clusters name 1000001 hosts; at most 131072"));
  EXPECT_THAT(refused("5,0-99999,7-99999999"), HasSubstr(" name 100099994 hosts"));
  EXPECT_EQ(refused("0-3,5"), "");
}

TEST(PlatformFiles, RefuseWhatTheyReplaceAndWhatTheyLack) {
  const PlatformFile file(star_of_eight);
  EXPECT_THAT(refusal(file.spec(",nic_bandwidth=1Gbps")), HasSubstr("platform file"));
  EXPECT_THAT(refusal(file.spec(",slow=1:2")), HasSubstr("platform file"));
  EXPECT_THAT(refusal(file.spec(",changes=1s/slow/1/2")), HasSubstr("platform file"));
  EXPECT_THAT(refusal(file.spec(",faults=1s/nic/0")), HasSubstr("platform file"));
  EXPECT_THROW(simulate(file.spec(), 9, [](RankRuntime&) {}), UsageError);
  const PlatformFile broken("<cluster");
  EXPECT_THROW(simulate(broken.spec(), 2, [](RankRuntime&) {}), Error);
}

}  // namespace
}  // namespace trigram::testing
