// Systems: defaults of flags from a file, under everything that a user says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/system.hpp"
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
      of("bucket-size = 64MiB\noverlap = off\ncluster.nic_cap = 9Gbps\ncluster.nic_latency = 7us\n");
  const Settings given{{"system", system}, {"overlap", "on"}, {"cluster", "two_by_four:nic_cap=5Gbps"}};
  const RunConfig config("trigram run", resolved(with_system(given, run_flags()), run_defaults()));
  EXPECT_EQ(config.training.buckets.bytes, 64 << 20);
  EXPECT_TRUE(config.training.relaxation.overlap);
  EXPECT_EQ(config.backend.parameters.values().at("nic_cap"), "5Gbps");
  EXPECT_EQ(config.backend.parameters.values().at("nic_latency"), "7us");
  EXPECT_EQ(config.settings.at("system"), system);
}

TEST_F(System, SaysWhichLineIsNone) {
  EXPECT_THAT(refusal("bucket-sise = 4MiB\n"),
              AllOf(HasSubstr("mine.cfg"), HasSubstr("'bucket-sise' is no flag"), HasSubstr("'bucket-size'")));
  EXPECT_THAT(refusal("system = horovod\n"), HasSubstr("names no system"));
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

}  // namespace
}  // namespace trigram::testing::settings_system_test
