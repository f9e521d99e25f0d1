// Tables of measurements: what they say, and what is said of those that are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "experiments/fit/measurements.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::fit_measurements_test {
namespace {

using ::testing::HasSubstr;

TEST(Measurements, AreRunsAndBenches) {
  const Scratch scratch;
  const auto file = scratch.file("m.csv",
                                 "# of ours\nsource,system,workload,cluster.nic_bandwidth,op,size,seconds\n"
                                 "mine,,\"bert_large:compute=0.53s,batch=6\",10Gbps,,,0.531\r\n\n"
                                 ",horovod,,,all_reduce,8MiB,31ms\n");
  const std::vector<Measurement> rows = read_measurements(file);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].settings,
            (Settings{{"workload", "bert_large:compute=0.53s,batch=6"}, {"cluster.nic_bandwidth", "10Gbps"}}));
  EXPECT_EQ(rows[0].source, "mine");
  EXPECT_EQ(rows[0].seconds, 0.531);
  EXPECT_EQ(rows[1].source, "horovod");
  EXPECT_EQ(rows[1].op, "all_reduce");
  EXPECT_EQ(rows[1].size, "8MiB");
  EXPECT_DOUBLE_EQ(rows[1].seconds, 0.031);
  EXPECT_EQ(rows[1].place, file.string() + ":5: ");
}

struct WrongTable {
  std::string text, message;
};

class WrongMeasurements : public ::testing::TestWithParam<WrongTable> {};

TEST_P(WrongMeasurements, AreRefused) {
  const Scratch scratch;
  const auto file = scratch.file("m.csv", GetParam().text);
  EXPECT_THAT([&] { read_measurements(file); }, ::testing::ThrowsMessage<UsageError>(HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongMeasurements,
    ::testing::Values(WrongTable{"seconds\n", "has no measurement"},
                      WrongTable{"lanes\n1\n", "m.csv:1: there is no column 'seconds'"},
                      WrongTable{"seconds,seconds\n", "m.csv:1: column 'seconds' is there twice"},
                      WrongTable{"seconds,lane\n", "m.csv:1: column 'lane' (did you mean 'lanes'?) is no flag"},
                      WrongTable{"seconds,cluster\n",
                                 "column 'cluster' is nothing that a measurement says; give --cluster"},
                      WrongTable{"seconds,lanes\n1\n", "m.csv:2: 1 cells where the heading has 2"},
                      WrongTable{"seconds\nfast\n", "m.csv:2: column 'seconds': 'fast' is no quantity"},
                      WrongTable{"lanes,seconds\n1,\n", "m.csv:2: column 'seconds': there is no value"},
                      WrongTable{"seconds\n-1\n", "m.csv:2: column 'seconds': '-1' is no time"},
                      WrongTable{"seconds\n\"1\n", "m.csv:2: a double quote is not closed"},
                      WrongTable{"seconds,op,size\n1,,4B\n", "m.csv:2: column 'op': there is no value"},
                      WrongTable{"seconds,op,size\n1,barrier,\n", "m.csv:2: column 'size': there is no value"}));

}  // namespace
}  // namespace trigram::testing::fit_measurements_test
