// All-reduces against those of SimGrid's own MPI layer on the same star: other code for the same algorithms.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/sim/rig.hpp"
#include "tests/support/source_tree.hpp"

namespace trigram::testing {
namespace {

constexpr int ranks = 16;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 256> piece;
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) text += piece.data();
  return pclose(pipe) == 0 ? text : "";
}

class MpiLayer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (output_of("command -v smpicc && command -v smpirun").empty())
      GTEST_SKIP() << "SimGrid's MPI layer is not installed";
    folder_ = ::testing::TempDir() + "smpi";
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/star.xml")
        << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform "
           "version=\"4.1\">"
        << "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-15\" speed=\"1Gf\" bw=\"12.5GBps\" lat=\"2.5us\" "
        << "sharing_policy=\"SPLITDUPLEX\"/></platform>\n";
    std::ofstream hosts(folder_ + "/hosts");
    for (int i = 0; i < ranks; ++i) hosts << "h" << i << "\n";
    hosts.close();
    const std::string compile = "smpicc -O1 -o " + folder_ + "/all_reduce " + source_tree().string() +
                                "/tests/sim/smpi/all_reduce.c 2>&1 && echo done";
    ASSERT_NE(output_of(compile).find("done"), std::string::npos);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  double mpi_seconds(const std::string& algorithm, std::int64_t count) const {
    std::string command =
        "cd " + folder_ +
        " && smpirun -np 16 -platform star.xml -hostfile hosts --log=root.thres:critical --cfg=smpi/allreduce:" +
        algorithm;
    for (const char* setting : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e20",
                                "smpi/simulate-computation:no", "smpi/or:0:0:0", "smpi/os:0:0:0", "smpi/ois:0:0:0",
                                "smpi/async-small-thresh:0", "smpi/send-is-detached-thresh:0"}) {
      command += std::string(" --cfg=") + setting;
    }
    return std::strtod(output_of(command + " ./all_reduce " + std::to_string(count) + " 2>/dev/null").c_str(), nullptr);
  }

  static double our_seconds(const std::string& algorithm, std::int64_t count) {
    World world;
    world.ranks = ranks;
    world.all_reduce = algorithm;
    return durations(flat(ranks), world, {all_reduce_of(4 * count)}).front();
  }

 private:
  std::string folder_;
};

TEST_F(MpiLayer, TakesAsLongAsOurAllReduces) {
  constexpr std::int64_t count = 1'024'000;  // of f32, whole grains for each of 16
  constexpr std::array<std::pair<const char*, const char*>, 3> same{
      {{"ring", "lr"}, {"recursive_doubling", "rdb"}, {"rabenseifner", "rab"}}};
  for (const auto& [ours, theirs] : same) {
    const double expected = mpi_seconds(theirs, count);
    ASSERT_GT(expected, 0) << theirs;
    expect_relative(our_seconds(ours, count), expected, 1e-4, ours);
  }
}

}  // namespace
}  // namespace trigram::testing
