// Systems: defaults of flags from a file, under everything that a user says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <tuple>

#include "core/values/error.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/system.hpp"
#include "experiments/study/comparison/observations.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::settings_system_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class System : public ::testing::Test {
 protected:
  /// The path of a system of such lines.
  std::string of(const std::string& lines) const {
    const std::filesystem::path path = scratch_ / "mine.cfg";
    std::ofstream(path) << lines;
    return path.string();
  }
  std::string refusal(const std::string& lines) const {
    try {
      with_system({{"system", of(lines)}}, run_flags());
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  Scratch scratch_;
};

TEST_F(System, GivesWayToFlags) {
  const std::string system =
      of("bucket-size = 64MiB\noverlap = off\ncluster.nic_cap = 9Gbps\ncluster.message_overhead = 7us\n");
  const Settings given{{"system", system}, {"overlap", "on"}, {"cluster", "two_by_four:nic_cap=5Gbps"}};
  const RunConfig config("trigram run", resolved(with_system(given, run_flags()), run_defaults()));
  EXPECT_EQ(config.training.buckets.bytes, 64 << 20);
  EXPECT_TRUE(config.training.relaxation.overlap);
  EXPECT_EQ(config.backend.parameters.values().at("nic_cap"), "5Gbps");
  EXPECT_EQ(config.backend.parameters.values().at("message_overhead"), "7us");
  EXPECT_EQ(config.settings.at("system"), system);
}

TEST_F(System, SaysWhichLineIsNone) {
  EXPECT_THAT(refusal("bucket-sise = 4MiB\n"),
              AllOf(HasSubstr("mine.cfg"), HasSubstr("'bucket-sise' is no flag"), HasSubstr("'bucket-size'")));
  EXPECT_THAT(refusal("system = horovod\n"), HasSubstr("cannot set system; copy that file"));
  EXPECT_THAT(refusal("[run]\nlanes = 2\n"), HasSubstr("mine.cfg:1"));
  EXPECT_THROW(with_system({{"system", "horowod"}}, run_flags()), UsageError);
}

TEST_F(System, GivesASubcommandWhatItHasFlagsFor) {
  const Settings given{{"system", of("bucket-size = 64MiB\nall-reduce = rabenseifner\n")}};
  const Settings all = with_system(given, {{"all-reduce", "text", "ring", ""}});
  EXPECT_EQ(all.count("bucket-size"), 0U);
  EXPECT_EQ(all.at("all-reduce"), "rabenseifner");
}

TEST(ShippedSystems, AreRunsThatCanBegin) {
  for (const std::string& name : shipped_names("systems")) {
    SCOPED_TRACE(name);
    const Settings given{{"system", name}, {"cluster", "bagua_v100"}, {"profile", "vgg16"}};
    const RunConfig config("trigram run", resolved(with_system(given, run_flags()), run_defaults()));
    EXPECT_NO_THROW(config.backend.make());
  }
}

TEST(ShippedSystems, TrigramsOwnIsWhatARunDoesThatNamesNone) {
  const Settings defaults = run_defaults();
  const auto lines = read_settings(find_config("systems", "system", "trigram"));
  EXPECT_GE(lines.size(), 5U);
  for (const auto& [flag, value] : lines) EXPECT_EQ(value, defaults.at(flag)) << flag;
}

// What a cluster's own file says is nearer to the place than what a system says of clusters.
TEST_F(System, GivesWayToTheClustersOwnFile) {
  const std::string cluster = scratch_.file("mine_cluster.cfg", "nodes = 2\ncompute_slowdown = 1.5\n").string();
  const Settings given{{"system", of("cluster.compute_slowdown = 1.2\ncluster.call_overhead = 9us\n")},
                       {"cluster", cluster}};
  const RunConfig config("trigram run", resolved(with_system(given, run_flags()), run_defaults()));
  EXPECT_EQ(config.backend.parameters.values().at("compute_slowdown"), "1.5");
  EXPECT_EQ(config.backend.parameters.values().at("call_overhead"), "9us");
}

RunConfig config_of(const Settings& given) {
  return {"trigram run", resolved(with_system(given, run_flags()), run_defaults())};
}

Settings settings_of(const RunConfig& config) {
  Settings all = config.settings;
  all.erase("cluster");  // which is compared as the parameters that it stands for
  return all;
}

/// The published rows that study agreement predicts.
std::vector<Observation> published() {
  std::vector<Observation> all;
  for (const char* table : {"bagua_bandwidth", "bagua_latency", "grace_resnet50", "bluefog_resnet50",
                            "deepspeed_onebit", "nccl_tests", "nccl_tests_clouds", "horovod_pascal", "rccl_mi300x"}) {
    const auto some = read_observations(shipped_folder("studies") / "targets" / (std::string(table) + ".csv"));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// A row states what the experiment states; what a system does stands in its file, and what a cluster does in its own.
// Only async, whose compute time was measured beside its communication, says that nothing slows it once more.
TEST(PublishedRows, RepeatNeitherSystemNorCluster) {
  const std::set<std::string> stated{"cluster.nodes", "cluster.gpus_per_node", "cluster.nic_bandwidth",
                                     "cluster.nic_latency", "cluster.codec_rates"};
  for (const Observation& row : published()) {
    EXPECT_FALSE(row.settings.at("system").empty()) << row.source << " line " << row.line;
    for (const auto& [key, value] : row.settings) {
      const bool of_async = row.method == "bagua_async" && key == "cluster.compute_slowdown";
      EXPECT_TRUE(!key.starts_with("cluster.") || stated.contains(key) || of_async)
          << row.source << ": " << key << " = " << value;
    }
  }
}

// What a newcomer types is what the tables have.
TEST(PublishedRows, AreWhatSystemAndClusterGive) {
  const std::tuple<const char*, const char*, const char*, Settings> typed[] = {
      {"bagua_bandwidth",
       "horovod",
       "2Gbps",
       {{"system", "horovod"},
        {"cluster", "bagua_v100_shaped:nic_bandwidth=2Gbps"},
        {"workload", "bert_large"},
        {"steps", "8"}}},
      {"bagua_bandwidth",
       "pytorch_ddp",
       "64Gbps",
       {{"system", "pytorch_ddp"}, {"cluster", "bagua_v100:nic_bandwidth=64Gbps"}, {"workload", "bert_large"}}},
      {"bagua_latency",
       "horovod",
       "+3ms",
       {{"system", "horovod"}, {"cluster", "bagua_v100:nic_latency=1550us"}, {"workload", "bert_large"}}},
      {"nccl_a100",
       "8 A100",
       "1MiB",
       {{"system", "pytorch_collectives"}, {"cluster", "p4de:nodes=1"}, {"workload", "tensor:size=1048576B"}}}};
  const std::vector<Observation> rows = published();
  for (const auto& [source, method, condition, given] : typed) {
    const auto row = std::ranges::find_if(
        rows, [&, source = source, method = method, condition = condition](const Observation& one) {
          return one.source == source && one.method == method && one.condition == condition;
        });
    ASSERT_NE(row, rows.end()) << source << " " << method << " " << condition;
    Settings fixed = row->settings;
    if (!given.contains("steps")) fixed.erase("steps");
    const RunConfig of_row = config_of(fixed), of_command = config_of(given);
    EXPECT_EQ(of_row.backend.parameters.values(), of_command.backend.parameters.values()) << source << " " << condition;
    EXPECT_EQ(settings_of(of_row), settings_of(of_command)) << source << " " << condition;
  }
}

TEST(ShippedClusters, TheShapedOneIsTheOtherBehindTokenBuckets) {
  Settings shaped = read_settings(find_config("clusters", "cluster", "bagua_v100_shaped"));
  const Settings plain = read_settings(find_config("clusters", "cluster", "bagua_v100"));
  EXPECT_EQ(shaped.erase("nic_burst") + shaped.erase("nic_line_rate"), 2U);
  shaped["nic_bandwidth"] = plain.at("nic_bandwidth");
  EXPECT_EQ(shaped, plain);
}

}  // namespace
}  // namespace trigram::testing::settings_system_test
