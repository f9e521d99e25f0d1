// Configuration files, layers of settings, and grids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/registry/backend_traits.hpp"
#include "core/values/error.hpp"
#include "experiments/settings/files/config_file.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/settings/job.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/settings.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ConfigFile, KeepsSectionsKeysAndLines) {
  const Scratch scratch;
  const auto file = scratch.file(
      "a.cfg", "# what it is\nplain = 1\n\n[variant.forward_0.25]\ncluster.nic_bandwidth = 1Gbps # wire\n");
  const auto entries = read_config_file(file);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].key, "plain");
  EXPECT_EQ(entries[0].line, 2);
  EXPECT_EQ(entries[1].section, "variant.forward_0.25");
  EXPECT_EQ(entries[1].key, "");
  EXPECT_EQ(entries[1].line, 4);
  EXPECT_EQ(entries[2].section, "variant.forward_0.25");
  EXPECT_EQ(entries[2].key, "cluster.nic_bandwidth");
  EXPECT_EQ(entries[2].value, "1Gbps");
  EXPECT_EQ(entries[2].line, 5);
  EXPECT_EQ(opening_comment(file), "what it is");
}

TEST(ConfigFile, NamesTheLineThatIsNoEntry) {
  const Scratch scratch;
  const auto file = scratch.file("a.cfg", "nodes = 2\nnonsense\n");
  EXPECT_THAT([&] { read_config_file(file); }, ThrowsMessage<UsageError>(HasSubstr("a.cfg:2: 'nonsense'")));
  EXPECT_THAT([&] { read_config_file(scratch / "none.cfg"); }, ThrowsMessage<UsageError>(HasSubstr("none.cfg")));
}

TEST(Settings, RefuseAKeyGivenTwice) {
  const Scratch scratch;
  const auto file = scratch.file("a.cfg", "nodes = 2\nnodes = 3\n");
  EXPECT_THAT([&] { read_settings(file); }, ThrowsMessage<UsageError>(HasSubstr("a.cfg:2: 'nodes' is given twice")));
}

TEST(Settings, AParameterReplacesTheOneInsideASpec) {
  EXPECT_EQ(with_parameter("mlp", "hidden", "64"), "mlp:hidden=64");
  EXPECT_EQ(with_parameter("c:a=1,b=2", "a", "3"), "c:a=3,b=2");
  EXPECT_EQ(with_parameter("c:a=(x:y=1,z=2)", "b", "1:2"), "c:a=(x:y=1,z=2),b=(1:2)");
}

TEST(Settings, DottedKeysWinOverTheSpecWhateverTheLayer) {
  const Settings whole = resolved({{"cluster.nic_bandwidth", "1Gbps"}, {"cluster", "big:nic_bandwidth=2Gbps"}},
                                  {{"cluster", "small"}, {"lr", "1"}});
  EXPECT_EQ(whole.at("cluster"), "big:nic_bandwidth=1Gbps");
  EXPECT_EQ(whole.size(), 1U);
  EXPECT_THROW(resolved({{"nothing.x", "1"}}, {}), UsageError);
  // A cluster that is given is refused by backends that model none.
  EXPECT_EQ(resolved({{"backend", "mpi"}}, {{"backend", "sim"}, {"cluster", "two_by_four"}}),
            (Settings{{"backend", "mpi"}}));
}

TEST(PlaceFlags, AreTheParametersThatBackendsDeclareAsFlags) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  std::vector<std::string> names;
  for (const Params::Declared& flag : run_flags()) names.push_back(flag.key);
  for (const BackendFlag& flag : BackendTraits::of("sim").flags) {
    EXPECT_THAT(names, Contains(flag.name));
    Params given = as_params("trigram run", {{flag.name, "7"}});
    EXPECT_EQ(PlaceFlags(given).parameters, (Settings{{flag.parameter, "7"}}));
  }
  Params given = as_params("trigram run", {{"ranks-per-node", "3"}, {"cluster", "two_by_four:ranks_per_node=4"}});
  EXPECT_EQ(BackendChoice("trigram run", PlaceFlags(given)).parameters.values().at("ranks_per_node"), "3");
}

TEST(PlaceFlags, AreComparedBetweenRanksUnlessTheyAreOfOneProcess) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  Params none = as_params("trigram run", {});
  BackendChoice place("trigram run", PlaceFlags(none));
  Settings flags{{"out", "a"}, {"steps", "3"}};
  for (const BackendFlag& flag : backend_flags()) {
    flags[flag.name] = "7";
    place.parameters.set(flag.parameter, "7");
  }
  const Configuration same = same_on_all_ranks("run", flags, place);
  EXPECT_TRUE(same.contains("steps"));
  EXPECT_FALSE(same.contains("out"));
  for (const BackendFlag& flag : backend_flags()) {
    EXPECT_EQ(same.contains(flag.name), !flag.of_one_process) << flag.name;
    EXPECT_EQ(same.contains("parameter " + flag.parameter), !flag.of_one_process) << flag.parameter;
  }
}

TEST(Grid, ExpandsRangesOfNumbersOnly) {
  EXPECT_THAT(expand_grid({"0.8:0.83:0.01"}), ElementsAre("0.8", "0.81", "0.82", "0.83"));
  EXPECT_THAT(expand_grid({"16Gbps", "5:8", "a:b:c"}), ElementsAre("16Gbps", "5:8", "a:b:c"));
  EXPECT_THROW(expand_grid({"1:2:0"}), UsageError);
  EXPECT_THROW(expand_grid({"2:1:0.1"}), UsageError);
}

}  // namespace
}  // namespace trigram
